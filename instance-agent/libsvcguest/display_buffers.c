/* Buffers of a display: the library remembers them, for the streamers that come later. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "display.h"

static int share(struct svcguest_display* display, uint32_t number) {
    const struct shared_buffer* buffer = &display->buffers[number];
    const struct svcguest_buffer* shape = &buffer->shape;
    const struct wire_buffer wire = {.kind = WIRE_BUFFER,
                                     .buffer = number,
                                     .width = shape->width,
                                     .height = shape->height,
                                     .stride = shape->stride,
                                     .offset = shape->offset,
                                     .fourcc = shape->fourcc,
                                     .modifier = shape->modifier};
    return display_send(display, &wire, sizeof wire, buffer->memory);
}

int share_buffers(struct svcguest_display* display) {
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < SVCGUEST_DISPLAY_BUFFERS; ++i)
        if (display->buffers[i].used) result = share(display, i);
    return result;
}

bool return_buffer(struct svcguest_display* display, uint32_t buffer, uint32_t turn) {
    if (buffer >= SVCGUEST_DISPLAY_BUFFERS) return false;
    struct shared_buffer* const lent = &display->buffers[buffer];
    if (!lent->lent || lent->turn != turn) return false;
    lent->lent = false;
    if (display->handlers.released != NULL) display->handlers.released(display->user, buffer);
    return true;
}

void return_buffers(struct svcguest_display* display) {
    for (uint32_t i = 0; i < SVCGUEST_DISPLAY_BUFFERS; ++i)
        (void)return_buffer(display, i, display->buffers[i].turn);
}

static void free_buffer(struct shared_buffer* buffer) {
    if (!buffer->used) return;
    if (buffer->mapped != NULL) munmap(buffer->mapped, buffer->mapped_size);
    close(buffer->memory);
    *buffer = (struct shared_buffer){0};
}

void free_buffers(struct svcguest_display* display) {
    for (size_t i = 0; i < SVCGUEST_DISPLAY_BUFFERS; ++i) free_buffer(&display->buffers[i]);
}

static int free_number(const struct svcguest_display* display) {
    for (int i = 0; i < SVCGUEST_DISPLAY_BUFFERS; ++i)
        if (!display->buffers[i].used) return i;
    return -ENOSPC;
}

int svcguest_display_add_buffer(struct svcguest_display* display, const struct svcguest_buffer* buffer,
                                int memory) {
    const int number = free_number(display);
    if (number < 0) return number;
    const int own = fcntl(memory, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return -errno;
    display->buffers[number] = (struct shared_buffer){.used = true, .memory = own, .shape = *buffer};
    const int sent = display->socket >= 0 ? share(display, (uint32_t)number) : 0;
    if (sent == 0 || sent == -EPIPE) return number; /* the next streamer is told */
    free_buffer(&display->buffers[number]);
    return sent;
}

/* Memory that cannot shrink under its reader. */
static int make_memory(size_t size) {
    const int memory = memfd_create("svc-display", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -errno;
    if (ftruncate(memory, (off_t)size) == 0 &&
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return memory;
    const int error = -errno;
    close(memory);
    return error;
}

int svcguest_display_new_buffer(struct svcguest_display* display, uint32_t width, uint32_t height,
                                uint32_t fourcc, struct svcguest_pixels* pixels) {
    if (width > 4096 || height > 4096 || width < 2 || height < 2) return -EINVAL;
    const struct svcguest_buffer shape = {
        .width = width, .height = height, .stride = width * 4, .fourcc = fourcc};
    const size_t size = (size_t)shape.stride * height;
    const int memory = make_memory(size);
    if (memory < 0) return memory;
    void* const mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    const int number = mapped != MAP_FAILED ? svcguest_display_add_buffer(display, &shape, memory) : -errno;
    close(memory);
    if (number < 0 && mapped != MAP_FAILED) munmap(mapped, size);
    if (number < 0) return number;
    display->buffers[number].mapped = mapped;
    display->buffers[number].mapped_size = size;
    *pixels = (struct svcguest_pixels){mapped, shape.stride};
    return number;
}

int svcguest_display_remove_buffer(struct svcguest_display* display, uint32_t buffer) {
    if (buffer >= SVCGUEST_DISPLAY_BUFFERS || !display->buffers[buffer].used) return -EINVAL;
    const struct wire_turn wire = {WIRE_REMOVE, buffer, 0};
    const int sent = display->socket >= 0 ? display_send(display, &wire, sizeof wire, -1) : 0;
    const int gone = sent == -EPIPE || sent == -ENOTCONN || sent == -ECONNRESET;
    if (sent < 0 && !gone) return sent; /* the streamer still has it */
    free_buffer(&display->buffers[buffer]);
    return 0;
}

int svcguest_display_present(struct svcguest_display* display, uint32_t buffer) {
    if (buffer >= SVCGUEST_DISPLAY_BUFFERS || !display->buffers[buffer].used) return -EINVAL;
    if (!display->ready) return -ENOTCONN;
    if (display->buffers[buffer].lent) return -EBUSY;
    const struct wire_turn wire = {WIRE_PRESENT, buffer, ++display->turns};
    const int sent = display_send(display, &wire, sizeof wire, -1);
    if (sent == -EPIPE) return -ENOTCONN;
    display->buffers[buffer].lent = sent == 0;
    display->buffers[buffer].turn = wire.turn;
    return sent;
}

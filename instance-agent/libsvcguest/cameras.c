/* Cameras: frames lie in memory shared with the agent. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"

#define FRAME_HEADER 32
#define MAX_SHARED ((uint64_t)1 << 30)

struct camera* find_camera(struct svcguest* guest, uint16_t handle) {
    for (size_t i = 0; i < MAX_CAMERAS; ++i)
        if (guest->cameras[i].open && guest->cameras[i].told.handle == handle) return &guest->cameras[i];
    return NULL;
}

void forget_camera(struct camera* camera) {
    if (!camera->open) return;
    munmap(camera->memory, camera->told.slots * camera->slot_bytes);
    camera->open = false;
}

static bool read_u32(struct json_text answer, const char* name, uint32_t* out) {
    int64_t value = 0;
    if (!json_to_int64(json_member(answer, name), &value) || value < 0 || value > UINT32_MAX) return false;
    *out = (uint32_t)value;
    return true;
}

/* A line must hold its pixels, a slot its lines. */
static bool read_camera(struct json_text answer, struct camera* camera) {
    struct svcguest_camera* told = &camera->told;
    uint32_t handle = 0, slot_bytes = 0;
    if (!read_u32(answer, "handle", &handle) || !read_u32(answer, "slots", &told->slots) ||
        !read_u32(answer, "slot_bytes", &slot_bytes) || !read_u32(answer, "width", &told->width) ||
        !read_u32(answer, "height", &told->height) || !read_u32(answer, "stride", &told->stride))
        return false;
    told->handle = (uint16_t)handle;
    camera->slot_bytes = slot_bytes;
    return handle <= UINT16_MAX && told->slots > 0 && told->stride >= (uint64_t)told->width * 4 &&
           (uint64_t)told->stride * told->height <= slot_bytes &&
           (uint64_t)told->slots * slot_bytes <= MAX_SHARED;
}

static int map_camera(struct camera* camera, int descriptor) {
    struct stat info;
    const size_t size = camera->told.slots * camera->slot_bytes;
    if (descriptor < 0 || fstat(descriptor, &info) != 0 || info.st_size < (off_t)size) return -EPROTO;
    void* memory = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return -errno;
    camera->memory = memory;
    camera->open = true;
    return 0;
}

static struct camera* free_camera(struct svcguest* guest) {
    for (size_t i = 0; i < MAX_CAMERAS; ++i)
        if (!guest->cameras[i].open) return &guest->cameras[i];
    return NULL;
}

static int close_remote(struct svcguest* guest, uint16_t handle) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "camera.close");
    text_format(&request, ",\"handle\":%u", handle);
    return request_finish(guest, &request, &answer);
}

int svcguest_camera_open(struct svcguest* guest, const char* camera, uint32_t width, uint32_t height,
                         uint32_t fps, struct svcguest_camera* opened) {
    struct camera* place = free_camera(guest);
    if (place == NULL) return -EMFILE;
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "camera.open");
    text_append(&request, ",\"camera\":", 10);
    text_string(&request, camera);
    text_format(&request, ",\"width\":%u,\"height\":%u,\"fps\":%u", width, height, fps);
    int result = request_finish(guest, &request, &answer);
    if (result != 0) return result;
    result = read_camera(answer, place) ? map_camera(place, guest->descriptor) : -EPROTO;
    if (result != 0)
        close_remote(guest, place->told.handle);
    else
        *opened = place->told;
    return result;
}

int svcguest_camera_close(struct svcguest* guest, uint16_t handle) {
    struct camera* camera = find_camera(guest, handle);
    if (camera == NULL) return -EBADF;
    forget_camera(camera);
    return close_remote(guest, handle);
}

int svcguest_release_frame(struct svcguest* guest, uint16_t handle, uint32_t slot) {
    const char payload[4] = {(char)slot, (char)(slot >> 8), (char)(slot >> 16), (char)(slot >> 24)};
    return connection_send(guest, KIND_RELEASE, handle, payload, sizeof(payload));
}

static uint32_t u32_at(const char* data, size_t at) {
    const unsigned char* bytes = (const unsigned char*)data + at;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void drop_frame(struct svcguest* guest, const struct message* message) {
    if (message->size == FRAME_HEADER)
        svcguest_release_frame(guest, message->stream, u32_at(message->payload, 28));
}

/* What does not fit the memory is given back unseen. */
void handle_frame(struct svcguest* guest, const struct message* message) {
    if (message->size != FRAME_HEADER) return;
    const char* data = message->payload;
    struct svcguest_frame frame = {
        message->stream,  u32_at(data, 28), u32_at(data, 0) | (uint64_t)u32_at(data, 4) << 32,
        u32_at(data, 8),  u32_at(data, 12), u32_at(data, 16),
        u32_at(data, 20), u32_at(data, 24), NULL};
    const struct camera* camera = find_camera(guest, frame.handle);
    if (camera == NULL || frame.slot >= camera->told.slots) return;
    const bool fits = frame.size <= camera->slot_bytes && frame.stride >= (uint64_t)frame.width * 4 &&
                      (uint64_t)frame.stride * frame.height <= camera->slot_bytes;
    if (!fits || guest->handlers.frame == NULL) {
        svcguest_release_frame(guest, frame.handle, frame.slot);
        return;
    }
    frame.pixels = camera->memory + frame.slot * camera->slot_bytes;
    guest->handlers.frame(guest->user, &frame);
}

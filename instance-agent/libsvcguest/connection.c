#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAYLOAD (64U << 20)
#define MAX_WAITING 4096

int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t deadline_in(int timeout_ms) {
    return timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
}

static int wait_for(int fd, short what, int64_t deadline_ms) {
    for (;;) {
        int64_t left = deadline_ms < 0 ? -1 : deadline_ms - now_ms();
        if (deadline_ms >= 0 && left < 0) left = 0;
        struct pollfd wanted = {fd, what, 0};
        const int count = poll(&wanted, 1, (int)left);
        if (count > 0) return 0;
        if (count == 0) return -ETIMEDOUT;
        if (errno != EINTR) return -errno;
    }
}

int connection_wait(struct svcguest* guest, int fd, int64_t deadline_ms) {
    (void)guest;
    return wait_for(fd, POLLIN, deadline_ms);
}

static int fail(struct svcguest* guest, int error) {
    guest->dead = true;
    return error;
}

static int send_all(struct svcguest* guest, const char* data, size_t size) {
    const int64_t deadline = deadline_in(guest->timeout_ms);
    while (size > 0) {
        const ssize_t sent = send(guest->socket, data, size, MSG_NOSIGNAL);
        if (sent >= 0) {
            data += sent;
            size -= (size_t)sent;
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return fail(guest, -errno);
        const int waited = wait_for(guest->socket, POLLOUT, deadline);
        if (waited != 0) return fail(guest, waited); /* half a message is out */
    }
    return 0;
}

int connection_send(struct svcguest* guest, uint8_t kind, uint16_t stream, const char* data, size_t size) {
    if (guest->dead) return -EPIPE;
    if (size > MAX_PAYLOAD) return -EMSGSIZE;
    const char header[8] = {(char)size, (char)(size >> 8), (char)(size >> 16), (char)(size >> 24), (char)kind,
                            0,          (char)stream,      (char)(stream >> 8)};
    const int result = send_all(guest, header, sizeof(header));
    return result != 0 ? result : send_all(guest, data, size);
}

static void take_descriptors(struct svcguest* guest, struct msghdr* message) {
    for (struct cmsghdr* header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            if (guest->descriptor >= 0) close(guest->descriptor);
            memcpy(&guest->descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
        }
    }
}

/* 1: all is there; 0: not yet. */
static int fill(struct svcguest* guest, char* data, size_t size, size_t* have) {
    while (*have < size) {
        struct iovec piece = {data + *have, size - *have};
        union {
            struct cmsghdr align;
            char data[CMSG_SPACE(4 * sizeof(int))];
        } control;
        struct msghdr message = {0};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        message.msg_control = control.data;
        message.msg_controllen = sizeof(control.data);
        const ssize_t count = recvmsg(guest->socket, &message, MSG_CMSG_CLOEXEC);
        if (count == 0) return fail(guest, -ECONNRESET);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN ? 0 : fail(guest, -errno);
        take_descriptors(guest, &message);
        *have += (size_t)count;
    }
    return 1;
}

static int begin_message(struct svcguest* guest) {
    const unsigned char* h = guest->header;
    const uint32_t size = h[0] | (uint32_t)h[1] << 8 | (uint32_t)h[2] << 16 | (uint32_t)h[3] << 24;
    if (size > MAX_PAYLOAD || h[5] != 0 || (h[4] != KIND_JSON && h[4] != KIND_FRAME))
        return fail(guest, -EPROTO);
    guest->incoming = malloc(sizeof(struct message) + size + 1);
    if (guest->incoming == NULL) return fail(guest, -ENOMEM);
    *guest->incoming = (struct message){NULL, h[4], (uint16_t)(h[6] | h[7] << 8), size};
    guest->incoming->payload[size] = '\0';
    guest->incoming_size = 0;
    return 0;
}

int connection_receive(struct svcguest* guest, struct message** message) {
    *message = NULL;
    if (guest->dead) return -EPIPE;
    if (guest->incoming == NULL) {
        const int filled = fill(guest, (char*)guest->header, sizeof(guest->header), &guest->header_size);
        if (filled <= 0) return filled;
        const int begun = begin_message(guest);
        if (begun != 0) return begun;
    }
    const int filled = fill(guest, guest->incoming->payload, guest->incoming->size, &guest->incoming_size);
    if (filled <= 0) return filled;
    *message = guest->incoming;
    guest->incoming = NULL;
    guest->header_size = 0;
    return 0;
}

/* Who calls without dispatching loses the oldest. */
void keep_event(struct svcguest* guest, struct message* message) {
    if (guest->last != NULL)
        guest->last->next = message;
    else
        guest->first = message;
    guest->last = message;
    const uint64_t one = 1;
    if (guest->waiting++ == 0) (void)!write(guest->notice, &one, sizeof(one));
    if (guest->waiting <= MAX_WAITING) return;
    struct message* oldest = take_event(guest);
    if (oldest->kind == KIND_FRAME) drop_frame(guest, oldest);
    free(oldest);
}

struct message* take_event(struct svcguest* guest) {
    struct message* message = guest->first;
    if (message == NULL) return NULL;
    guest->first = message->next;
    if (guest->first == NULL) guest->last = NULL;
    uint64_t count;
    if (--guest->waiting == 0) (void)!read(guest->notice, &count, sizeof(count));
    return message;
}

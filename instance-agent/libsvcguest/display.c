/* The connection to the streamer: made, kept, made again. */
#define _GNU_SOURCE
#include "display.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "connection.h"

enum { RETRY_MS = 250, MOST_AT_ONCE = 256 };

int display_send(struct svcguest_display* display, const void* message, size_t size, int descriptor) {
    struct iovec piece = {(void*)message, size};
    union {
        struct cmsghdr header;
        char data[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &piece, .msg_iovlen = 1};
    if (descriptor >= 0) {
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
        packet.msg_control = control.data;
        packet.msg_controllen = sizeof control.data;
    }
    while (sendmsg(display->socket, &packet, MSG_NOSIGNAL) < 0) {
        if (errno == EINTR) continue;
        if (errno == ECONNRESET || errno == ENOTCONN) return -EPIPE;
        return -errno;
    }
    return 0;
}

static int watch(struct svcguest_display* display, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(display->poll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void try_again_later(struct svcguest_display* display) {
    const struct itimerspec later = {.it_value = {RETRY_MS / 1000, RETRY_MS % 1000 * 1000000L}};
    (void)timerfd_settime(display->timer, 0, &later, NULL);
}

/* The timer stays readable while it is not read, so this one is called only when it is time. */
static bool is_time_to_connect(struct svcguest_display* display) {
    uint64_t count;
    return display->socket < 0 && read(display->timer, &count, sizeof count) == sizeof count;
}

static int greet(struct svcguest_display* display) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, display->path, sizeof address.sun_path);
    const struct wire_hello hello = {WIRE_HELLO, WIRE_VERSION};
    if (connect(display->socket, (const struct sockaddr*)&address, sizeof address) != 0) return -errno;
    int result = watch(display, display->socket);
    if (result == 0) result = display_send(display, &hello, sizeof hello, -1);
    return result == 0 ? share_buffers(display) : result;
}

static void try_to_connect(struct svcguest_display* display) {
    display->reason[0] = '\0';
    display->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int greeted = display->socket >= 0 ? greet(display) : -errno;
    if (greeted == 0 || greeted == -EPIPE) return; /* a streamer that has closed may have said why */
    if (display->socket >= 0) close(display->socket);
    display->socket = -1;
    try_again_later(display);
}

static int hang_up(struct svcguest_display* display, const char* reason) {
    const bool heard = display->ready || strcmp(display->reason, display->refused) != 0;
    memcpy(display->refused, display->reason, sizeof display->refused); /* it is told once */
    close(display->socket);
    display->socket = -1;
    display->ready = false;
    try_again_later(display);
    let_go(display);
    return_buffers(display);
    if (display->reason[0] == '\0') note_reason(display, reason);
    if (heard && display->handlers.disconnected != NULL)
        display->handlers.disconnected(display->user, display->reason);
    return heard ? 1 : 0;
}

/* What has come; the number of events. */
static int receive(struct svcguest_display* display) {
    char packet[WIRE_MAX_PACKET + 1];
    int count = 0;
    while (display->socket >= 0 && count < MOST_AT_ONCE) {
        const ssize_t size = recv(display->socket, packet, sizeof packet - 1, MSG_TRUNC);
        if (size < 0 && (errno == EINTR || errno == ECONNRESET))
            continue; /* what was sent before comes yet */
        if (size < 0 && errno == EAGAIN) return count;
        if (size < 0) return count + hang_up(display, strerror(errno));
        if (size == 0) return count + hang_up(display, "the streamer has ended");
        const bool fits = (size_t)size < sizeof packet;
        if (fits) packet[size] = '\0';
        if (!fits || !take_packet(display, packet, (size_t)size))
            return count + hang_up(display, "the streamer sends what this library does not know");
        ++count;
    }
    return count;
}

static int open_poll(struct svcguest_display* display) {
    display->poll = epoll_create1(EPOLL_CLOEXEC);
    display->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (display->poll < 0 || display->timer < 0) return -errno;
    return watch(display, display->timer);
}

static int open_display(struct svcguest_display* display, const char* path) {
    display->socket = display->poll = display->timer = -1;
    if (strlen(path) >= sizeof display->path) return -ENAMETOOLONG;
    memcpy(display->path, path, strlen(path));
    const int result = open_poll(display);
    if (result == 0) try_to_connect(display);
    return result;
}

struct svcguest_display* svcguest_display_open(const char* path,
                                               const struct svcguest_display_handlers* handlers, size_t size,
                                               void* user, int* error) {
    struct svcguest_display* display = calloc(1, sizeof *display);
    int result = -ENOMEM;
    if (display != NULL) {
        if (handlers != NULL)
            memcpy(&display->handlers, handlers,
                   size < sizeof display->handlers ? size : sizeof display->handlers);
        display->user = user;
        result = open_display(display, path != NULL ? path : SVCGUEST_DISPLAY_SOCKET);
    }
    if (error != NULL) *error = result;
    if (result == 0) return display;
    svcguest_display_close(display);
    return NULL;
}

void svcguest_display_close(struct svcguest_display* display) {
    if (display == NULL) return;
    free_buffers(display);
    const int descriptors[] = {display->socket, display->timer, display->poll};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; ++i)
        if (descriptors[i] >= 0) close(descriptors[i]);
    free(display);
}

int svcguest_display_fd(const struct svcguest_display* display) {
    return display->poll;
}

int svcguest_display_dispatch(struct svcguest_display* display, int timeout_ms) {
    const int64_t deadline = deadline_in(timeout_ms);
    for (;;) {
        if (is_time_to_connect(display)) try_to_connect(display);
        const int count = display->socket >= 0 ? receive(display) : 0;
        if (count != 0) return count;
        const int waited = connection_wait(NULL, display->poll, deadline);
        if (waited == -ETIMEDOUT) return 0;
        if (waited != 0) return waited;
    }
}

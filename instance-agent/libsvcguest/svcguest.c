#define _GNU_SOURCE
#include "svcguest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "connection.h"

static int open_socket(struct svcguest* guest, const char* path) {
    struct sockaddr_un address = {0};
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof(address.sun_path)) return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    guest->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (guest->socket < 0) return -errno;
    return connect(guest->socket, (const struct sockaddr*)&address, sizeof(address)) == 0 ? 0 : -errno;
}

static int watch(struct svcguest* guest, int fd) {
    struct epoll_event event = {0};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return epoll_ctl(guest->poll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int open_poll(struct svcguest* guest) {
    guest->notice = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    guest->poll = epoll_create1(EPOLL_CLOEXEC);
    if (guest->notice < 0 || guest->poll < 0) return -errno;
    const int watched = watch(guest, guest->socket);
    return watched != 0 ? watched : watch(guest, guest->notice);
}

static void note_features(struct svcguest* guest, struct json_text answer) {
    const struct json_text features = json_member(answer, "features");
    if (features.at == NULL || (size_t)(features.end - features.at) >= sizeof(guest->features)) return;
    memcpy(guest->features, features.at, (size_t)(features.end - features.at));
}

static int say_hello(struct svcguest* guest, const char* name) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "hello");
    text_append(&request, ",\"version\":1,\"name\":", 20);
    text_string(&request, name != NULL ? name : "");
    const int result = request_finish(guest, &request, &answer);
    if (result == 0) note_features(guest, answer);
    return result;
}

struct svcguest* svcguest_connect(const char* path, const char* name, int* error) {
    struct svcguest* guest = calloc(1, sizeof(*guest));
    int result = -ENOMEM;
    if (guest != NULL) {
        guest->socket = guest->poll = guest->notice = guest->descriptor = -1;
        guest->timeout_ms = 5000;
        result = open_socket(guest, path != NULL ? path : SVCGUEST_SOCKET);
        if (result == 0) result = open_poll(guest);
        if (result == 0) result = say_hello(guest, name);
    }
    if (error != NULL) *error = result;
    if (result == 0) return guest;
    svcguest_close(guest);
    return NULL;
}

void svcguest_close(struct svcguest* guest) {
    if (guest == NULL) return;
    for (size_t i = 0; i < MAX_CAMERAS; ++i) forget_camera(&guest->cameras[i]);
    for (struct message* message; (message = take_event(guest)) != NULL;) free(message);
    const int descriptors[] = {guest->socket, guest->poll, guest->notice, guest->descriptor};
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); ++i)
        if (descriptors[i] >= 0) close(descriptors[i]);
    free(guest->incoming);
    free(guest->answer);
    free(guest->values);
    free(guest);
}

bool svcguest_has_feature(const struct svcguest* guest, const char* name) {
    const struct json_text features = json_value(guest->features, guest->features + strlen(guest->features));
    const char* cursor = NULL;
    for (struct json_text item; (item = json_next_item(features, &cursor)).at != NULL;)
        if (json_equals(item, name)) return true;
    return false;
}

const char* svcguest_error(const struct svcguest* guest) {
    return guest->error;
}

void svcguest_set_timeout(struct svcguest* guest, int milliseconds) {
    guest->timeout_ms = milliseconds;
}

/* A program that was built with another version of the header has fewer or more of them. */
void svcguest_set_handlers(struct svcguest* guest, const struct svcguest_handlers* handlers, size_t size,
                           void* user) {
    memset(&guest->handlers, 0, sizeof(guest->handlers));
    if (handlers != NULL)
        memcpy(&guest->handlers, handlers, size < sizeof(guest->handlers) ? size : sizeof(guest->handlers));
    guest->user = user;
}

bool svcguest_is_alive(const struct svcguest* guest) {
    return !guest->dead;
}

int svcguest_fd(const struct svcguest* guest) {
    return guest->poll;
}

void request_begin(struct svcguest* guest, struct text_buffer* request, const char* op) {
    memset(request, 0, sizeof(*request));
    guest->error[0] = '\0';
    text_format(request, "{\"id\":%lld,\"op\":", (long long)++guest->last_id);
    text_string(request, op);
}

/* The answer to the request that was sent last. Late ones of calls that were given up are dropped. */
static bool is_answer(struct svcguest* guest, const struct message* message, bool* ours) {
    int64_t id = 0;
    if (message->kind != KIND_JSON) return false;
    const struct json_text json = json_value(message->payload, message->payload + message->size);
    if (json_member(json, "event").at != NULL || !json_to_int64(json_member(json, "id"), &id)) return false;
    *ours = id == guest->last_id;
    return true;
}

static void drop_descriptor(struct svcguest* guest) {
    if (guest->descriptor >= 0) close(guest->descriptor);
    guest->descriptor = -1;
}

static int await_answer(struct svcguest* guest) {
    const int64_t deadline = deadline_in(guest->timeout_ms);
    for (;;) {
        struct message* message = NULL;
        int result = connection_receive(guest, &message);
        if (result != 0) return result;
        if (message == NULL) {
            result = connection_wait(guest, guest->socket, deadline);
            if (result != 0) return result;
            continue;
        }
        bool ours = false;
        if (!is_answer(guest, message, &ours)) {
            keep_event(guest, message);
            continue;
        }
        if (!ours) {
            drop_descriptor(guest);
            free(message);
            continue;
        }
        free(guest->answer);
        guest->answer = message;
        return 0;
    }
}

static int read_answer(struct svcguest* guest, struct json_text* answer) {
    *answer = json_value(guest->answer->payload, guest->answer->payload + guest->answer->size);
    bool ok = false;
    if (!json_to_bool(json_member(*answer, "ok"), &ok)) return -EPROTO;
    if (ok) return 0;
    if (!json_to_string(json_member(*answer, "error"), guest->error, sizeof(guest->error)))
        snprintf(guest->error, sizeof(guest->error), "refused");
    return SVCGUEST_REFUSED;
}

int request_finish(struct svcguest* guest, struct text_buffer* request, struct json_text* answer) {
    text_append(request, "}", 1);
    drop_descriptor(guest);
    int result = request->error;
    if (result == 0) result = connection_send(guest, KIND_JSON, 0, request->data, request->size);
    text_free(request);
    if (result == 0) result = await_answer(guest);
    return result == 0 ? read_answer(guest, answer) : result;
}

int svcguest_call(struct svcguest* guest, const char* op, const char* members, const char** answer) {
    struct text_buffer request;
    struct json_text json = {NULL, NULL};
    request_begin(guest, &request, op);
    if (members != NULL && *members != '\0') {
        text_append(&request, ",", 1);
        text_append(&request, members, strlen(members));
    }
    const int result = request_finish(guest, &request, &json);
    if (answer != NULL) *answer = json.at;
    return result;
}

/* Everything that is there, be it kept or in the socket. */
static int dispatch_all(struct svcguest* guest) {
    int count = 0;
    for (int turns = 0; turns < 1024; ++turns) {
        struct message* message = take_event(guest);
        const int result = message == NULL ? connection_receive(guest, &message) : 0;
        if (message == NULL) return count > 0 ? count : result;
        bool ours = false;
        if (is_answer(guest, message, &ours)) {
            free(message);
            continue;
        }
        handle_message(guest, message);
        free(message);
        ++count;
    }
    return count;
}

int svcguest_dispatch(struct svcguest* guest, int timeout_ms) {
    const int64_t deadline = deadline_in(timeout_ms);
    for (;;) {
        const int count = dispatch_all(guest);
        if (count != 0) return count;
        const int waited = connection_wait(guest, guest->poll, deadline);
        if (waited == -ETIMEDOUT) return 0;
        if (waited != 0) return waited;
    }
}

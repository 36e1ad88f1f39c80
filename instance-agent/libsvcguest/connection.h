/* Internal: the connection to the agent and its messages. */
#ifndef SVCGUEST_CONNECTION_H
#define SVCGUEST_CONNECTION_H

#include "json_reader.h"
#include "names.h"
#include "svcguest.h"
#include "text_buffer.h"

#define MAX_CAMERAS 8

enum { KIND_JSON = 1, KIND_FRAME = 2, KIND_RELEASE = 3 };

/* A received message. A NUL follows its payload. */
struct message {
    struct message* next;
    uint8_t kind;
    uint16_t stream;
    size_t size;
    char payload[];
};

struct camera {
    bool open;
    struct svcguest_camera told;
    uint8_t* memory; /* slots * slot_bytes */
    size_t slot_bytes;
};

struct svcguest {
    int socket, poll,
        notice; /* `poll` is an epoll descriptor for the others; `notice` is readable while events wait */
    int timeout_ms;
    int64_t last_id;
    bool dead;
    char error[256];
    char features[512];
    struct svcguest_handlers handlers;
    void* user;
    struct message *first, *last; /* events that came during calls */
    size_t waiting;
    struct message* answer; /* the answer to the last call */
    int descriptor;         /* received with the answer; -1: none */
    void* values;           /* memory of the value that the last call returned */
    struct camera cameras[MAX_CAMERAS];
    unsigned char header[8]; /* header of the message that is being received */
    size_t header_size;
    struct message* incoming;
    size_t incoming_size;
};

/* Messages. All return 0 or a negative errno. */
int connection_send(struct svcguest* guest, uint8_t kind, uint16_t stream, const char* data, size_t size);
/* Receives one message; returns 0 with `*message` NULL when no whole message has come. */
int connection_receive(struct svcguest* guest, struct message** message);
/* Waits until the descriptor is readable: 0, or -ETIMEDOUT. `deadline_ms` -1: no limit. */
int connection_wait(struct svcguest* guest, int fd, int64_t deadline_ms);
int64_t now_ms(void);
int64_t deadline_in(int timeout_ms); /* a negative timeout gives -1: no limit */
void keep_event(struct svcguest* guest, struct message* message);
struct message* take_event(struct svcguest* guest);

/* Begins a request. request_finish() completes and sends it, frees the buffer and waits for the answer. */
void request_begin(struct svcguest* guest, struct text_buffer* request, const char* op);
int request_finish(struct svcguest* guest, struct text_buffer* request, struct json_text* answer);

/* Calls the handler of an event. */
void handle_message(struct svcguest* guest, struct message* message);

/* Vehicle values. The caller frees the returned memory; NULL: out of memory. */
void append_value(struct text_buffer* request, const struct svcguest_value* value);
void* read_value(struct json_text json, struct svcguest_value* value);
bool read_location(struct json_text json, struct svcguest_location* location);

/* Events of telephony: call the handler. False: there is none, or the event is malformed. */
bool on_telephony(struct svcguest* guest, struct json_text event);
bool on_phone_call(struct svcguest* guest, struct json_text event);
bool on_sms(struct svcguest* guest, struct json_text event);

/* The camera of a handle, or NULL. */
struct camera* find_camera(struct svcguest* guest, uint16_t handle);
void forget_camera(struct camera* camera);
void handle_frame(struct svcguest* guest, const struct message* message);
void drop_frame(struct svcguest* guest,
                const struct message* message); /* releases it without calling the handler */

#endif

/* Internal: the connection and its messages. */
#ifndef SVCGUEST_CONNECTION_H
#define SVCGUEST_CONNECTION_H

#include "json_reader.h"
#include "names.h"
#include "svcguest.h"
#include "text_buffer.h"

#define MAX_CAMERAS 8

enum { KIND_JSON = 1, KIND_FRAME = 2, KIND_RELEASE = 3 };

/* One received message, with a NUL behind its payload. */
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
    int socket, poll, notice; /* `poll` looks at both others; `notice` is readable while events wait */
    int timeout_ms;
    int64_t last_id;
    bool dead;
    char error[256];
    char features[512];
    struct svcguest_handlers handlers;
    void* user;
    struct message *first, *last; /* events that came during calls */
    size_t waiting;
    struct message* answer; /* of the last call */
    int descriptor;         /* that came with it; -1: none */
    void* values;           /* memory of the last value that was returned */
    struct camera cameras[MAX_CAMERAS];
    unsigned char header[8]; /* of the message that is coming in */
    size_t header_size;
    struct message* incoming;
    size_t incoming_size;
};

/* Messages. All return 0 or a negative errno. */
int connection_send(struct svcguest* guest, uint8_t kind, uint16_t stream, const char* data, size_t size);
/* What has come in, one message; 0 with `*message` NULL: nothing more now. */
int connection_receive(struct svcguest* guest, struct message** message);
/* Until the socket has something to read: 0, or -ETIMEDOUT. -1 waits without end. */
int connection_wait(struct svcguest* guest, int fd, int64_t deadline_ms);
int64_t now_ms(void);
int64_t deadline_in(int timeout_ms); /* negative: none, -1 */
void keep_event(struct svcguest* guest, struct message* message);
struct message* take_event(struct svcguest* guest);

/* Begins a request, which request_finish() ends, sends and frees, waiting for its answer. */
void request_begin(struct svcguest* guest, struct text_buffer* request, const char* op);
int request_finish(struct svcguest* guest, struct text_buffer* request, struct json_text* answer);

/* Calls the handler of an event. */
void handle_message(struct svcguest* guest, struct message* message);

/* Vehicle values. The memory is for the caller to free; NULL: there was none to be had. */
void append_value(struct text_buffer* request, const struct svcguest_value* value);
void* read_value(struct json_text json, struct svcguest_value* value);
bool read_location(struct json_text json, struct svcguest_location* location);

/* The camera of a handle, or NULL. */
struct camera* find_camera(struct svcguest* guest, uint16_t handle);
void forget_camera(struct camera* camera);
void handle_frame(struct svcguest* guest, const struct message* message);
void drop_frame(struct svcguest* guest, const struct message* message); /* gives it back unseen */

#endif

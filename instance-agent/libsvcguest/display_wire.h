/* Internal: the messages of a display connection (docs/guest-display.md), for both of its ends. Each is one
 * packet of a SOCK_SEQPACKET socket. Numbers are in the machine's own order: both ends are on one machine.
 * C11 and C++. */
#ifndef SVCGUEST_DISPLAY_WIRE_H
#define SVCGUEST_DISPLAY_WIRE_H

#include <stdint.h>

enum {
    WIRE_VERSION = 1,
    WIRE_MAX_BUFFERS = 8,
    WIRE_MAX_TEXT = 4096,  /* bytes of a text or a reason */
    WIRE_MAX_REQUEST = 64, /* bytes of a message of the program */
    WIRE_MAX_PACKET = 4 + WIRE_MAX_TEXT
};

enum wire_kind {
    /* of the program */
    WIRE_HELLO = 1,   /* wire_hello; the first message */
    WIRE_BUFFER = 2,  /* wire_buffer and one descriptor */
    WIRE_REMOVE = 3,  /* wire_turn */
    WIRE_PRESENT = 4, /* wire_turn: the buffer is the streamer's from now on */
    /* of the streamer */
    WIRE_MODE = 65,        /* wire_mode; answers hello, then comes with each change */
    WIRE_RELEASE = 66,     /* wire_turn: the buffer is the program's again */
    WIRE_INPUT = 67,       /* wire_input */
    WIRE_TEXT = 68,        /* the kind, then UTF-8 */
    WIRE_RELEASE_ALL = 69, /* the kind alone: nothing is down any more */
    WIRE_REFUSED = 70      /* the kind, then the reason; the last message */
};

struct wire_hello {
    uint32_t kind, version;
};

struct wire_buffer {
    uint32_t kind, buffer; /* its number: 0 to WIRE_MAX_BUFFERS - 1 */
    uint32_t width, height, stride, offset;
    uint32_t fourcc, zero;
    uint64_t modifier;
};

struct wire_turn {
    uint32_t kind, buffer;
    uint32_t turn; /* the program's; a release has that of its present */
};

struct wire_mode {
    uint32_t kind, width, height, density, fps, watched;
};

struct wire_input {
    uint32_t kind, type; /* enum svcguest_input_type */
    uint32_t id, code, pressed;
    int32_t x, y;
    float value;
};

#endif

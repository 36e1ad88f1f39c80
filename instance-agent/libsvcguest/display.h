/* Internal: the state of a display connection. */
#ifndef SVCGUEST_DISPLAY_H
#define SVCGUEST_DISPLAY_H

#include "display_wire.h"
#include "names.h"
#include "svcguest.h"

enum { HELD_CODES = 0x300, HELD_AXES = 6 }; /* KEY_MAX + 1; ABS_X to ABS_RZ */

struct held_codes {
    uint8_t bits[HELD_CODES / 8];
};

/* What is down at the program. */
struct held_input {
    struct held_codes keys; /* keys and buttons of the mouse: their codes differ */
    struct held_codes pads[SVCGUEST_PADS];
    float axes[SVCGUEST_PADS][HELD_AXES]; /* 0: at rest */
    bool fingers[SVCGUEST_FINGERS];
};

struct shared_buffer {
    bool used, lent; /* lent: the streamer has it */
    uint32_t turn;   /* in which it was lent */
    int memory;
    struct svcguest_buffer shape;
    void* mapped; /* of svcguest_display_new_buffer(); else NULL */
    size_t mapped_size;
};

struct svcguest_display {
    int socket, poll, timer; /* socket -1: not connected; `timer` tells when to try again */
    bool ready;              /* the mode has come */
    char path[108];
    char reason[512], refused[512]; /* why the streamer refused, now and the last time; "" */
    struct svcguest_display_handlers handlers;
    void* user;
    struct shared_buffer buffers[SVCGUEST_DISPLAY_BUFFERS];
    uint32_t turns;
    struct held_input held;
};

/* Sends one message, with a descriptor unless it is -1. 0 or a negative errno. */
int display_send(struct svcguest_display* display, const void* message, size_t size, int descriptor);

/* Messages. A NUL follows the packet. False: it is malformed. */
bool take_packet(struct svcguest_display* display, const char* packet, size_t size);
void note_reason(struct svcguest_display* display, const char* reason); /* cut where it is long */

/* Buffers. */
int share_buffers(struct svcguest_display* display);   /* tells a new streamer of all */
void return_buffers(struct svcguest_display* display); /* calls the handler for all that are lent */
/* False: it is not lent, or another turn of a number that was removed meanwhile. */
bool return_buffer(struct svcguest_display* display, uint32_t buffer, uint32_t turn);
void free_buffers(struct svcguest_display* display);

/* Input: calls the handler of what changes something; false: the event is malformed. */
bool take_input(struct svcguest_display* display, const struct wire_input* wire);
void take_text(struct svcguest_display* display, const char* text);
void let_go(struct svcguest_display* display); /* of all that is down */

#endif

/* Internal: how a gamepad of the streamer looks in /dev/input, for both of its ends (docs/gamepad.md).
 * Numbers are in the machine's own order: both ends are on one machine. C11 and C++. */
#ifndef SVCGAMEPAD_PAD_WIRE_H
#define SVCGAMEPAD_PAD_WIRE_H

#include <linux/input.h>
#include <stdint.h>

#define PAD_FOLDER "/dev/input"
/* The socket of event<N> is bound as .pad<N>.socket and then gets its name: the first one is what the kernel
 * tells of a connection's other end. The description is in .pad<N>. */
#define PAD_PREFIX ".pad"
#define PAD_BOUND_SUFFIX ".socket"

enum {
    PAD_VERSION = 1,
    PAD_NAME_BYTES = 80,
    PAD_KEY_BYTES = (KEY_CNT + 7) / 8,
    PAD_AXIS_BYTES = (ABS_CNT + 7) / 8
};

/* What is asked by ioctl(): abilities and state. The streamer changes the state before it sends the events.
 */
struct pad_description {
    uint32_t version;
    uint32_t grabbed; /* 1: a program has it for itself */
    struct input_id id;
    char name[PAD_NAME_BYTES];
    uint8_t keys[PAD_KEY_BYTES];  /* bits: that it has */
    uint8_t axes[PAD_AXIS_BYTES]; /* bits: that it has */
    uint8_t down[PAD_KEY_BYTES];  /* bits: that are pressed */
    struct input_absinfo absolute[ABS_CNT];
};

/* A program gets struct input_event, and may write it, as to any device. Of what it writes the streamer takes
 * records of this type alone, which the library makes of ioctl(). */
enum { PAD_ORDER = 0xffff };
enum pad_order {                /* the code */
                 PAD_CLOCK = 1, /* value: the clock of the events' times */
                 PAD_GRAB = 2   /* value: 1 no other program gets events; 0 all get them */
};

#endif

#include "instance-agent/gamepad/questions.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "instance-agent/gamepad/pads.h"

enum { FIRST_BITS = 0x20, FIRST_AXIS = 0x40, AFTER_AXES = 0x80 };

static const uint8_t types[] = {1u << EV_SYN | 1u << EV_KEY | 1u << EV_ABS};
static const uint8_t nothing[PAD_KEY_BYTES];

static int fail(int error) {
    errno = error;
    return -1;
}

/* As much as there is room for; that is how evdev says how much it gave. */
static int give(unsigned long request, void* room, const void* bytes, size_t size) {
    const size_t given = size < _IOC_SIZE(request) ? size : _IOC_SIZE(request);
    memcpy(room, bytes, given);
    return (int)given;
}

/* Bits are whole words of the kernel. */
static int give_bits(unsigned long request, void* room, const uint8_t* bits, size_t size) {
    uint8_t words[(KEY_CNT + 63) / 64 * 8] = {0};
    memcpy(words, bits, size);
    return give(request, room, words, (size + sizeof(long) - 1) / sizeof(long) * sizeof(long));
}

static int give_abilities(unsigned long request, const struct pad_description* pad, void* room) {
    const unsigned type = _IOC_NR(request) - FIRST_BITS;
    switch (type) {
        case 0:
            return give_bits(request, room, types, sizeof(types));
        case EV_KEY:
            return give_bits(request, room, pad->keys, sizeof(pad->keys));
        case EV_ABS:
            return give_bits(request, room, pad->axes, sizeof(pad->axes));
        case EV_REL:
        case EV_MSC:
        case EV_SW:
        case EV_LED:
        case EV_SND:
            return give_bits(request, room, nothing, sizeof(long));
        case EV_FF:
            return give_bits(request, room, nothing, FF_CNT / 8);
        default:
            return fail(EINVAL);
    }
}

/* Those whose number carries the size of the program's room. */
static int give_sized(unsigned long request, const struct pad_description* pad, void* room) {
    const unsigned number = _IOC_NR(request);
    if (number >= FIRST_AXIS && number < AFTER_AXES)
        return give(request, room, &pad->absolute[number - FIRST_AXIS], sizeof(struct input_absinfo)), 0;
    if (number >= FIRST_BITS && number < FIRST_AXIS) return give_abilities(request, pad, room);
    switch (number) {
        case _IOC_NR(EVIOCGNAME(0)):
            return give(request, room, pad->name, strlen(pad->name) + 1);
        case _IOC_NR(EVIOCGKEY(0)):
            return give_bits(request, room, pad->down, sizeof(pad->down));
        case _IOC_NR(EVIOCGPROP(0)):
        case _IOC_NR(EVIOCGLED(0)):
        case _IOC_NR(EVIOCGSND(0)):
        case _IOC_NR(EVIOCGSW(0)):
            return give_bits(request, room, nothing, sizeof(long));
        case _IOC_NR(EVIOCGPHYS(0)):
        case _IOC_NR(EVIOCGUNIQ(0)):
            return fail(ENOENT);
        default:
            return fail(EINVAL);
    }
}

static int order(int fd, enum pad_order code, int value) {
    struct input_event event = {.type = PAD_ORDER, .code = (uint16_t)code, .value = value};
    if (send(fd, &event, sizeof(event), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(event)) return 0;
    return fail(ENODEV);
}

static int set_clock(int fd, int clock) {
    const int known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
    return known ? order(fd, PAD_CLOCK, clock) : fail(EINVAL);
}

static int grab(int fd, const struct pad_description* pad, bool wanted) {
    return wanted && pad->grabbed ? fail(EBUSY) : order(fd, PAD_GRAB, wanted);
}

bool is_question(unsigned long request) {
    return _IOC_TYPE(request) == 'E';
}

int answer(int fd, int number, unsigned long request, void* argument) {
    struct pad_description pad;
    if (!describe_pad(number, &pad)) return fail(ENODEV);
    switch (request) {
        case EVIOCGVERSION:
            *(int*)argument = EV_VERSION;
            return 0;
        case EVIOCGID:
            *(struct input_id*)argument = pad.id;
            return 0;
        case EVIOCGEFFECTS:
            return *(int*)argument = 0;
        case EVIOCSCLOCKID:
            return set_clock(fd, *(const int*)argument);
        case EVIOCGRAB: /* a number, not a pointer */
            return grab(fd, &pad, argument != NULL);
        case EVIOCREVOKE:
            return argument != NULL ? fail(EINVAL) : shutdown(fd, SHUT_RDWR);
        case EVIOCSFF:
        case EVIOCRMFF:
        case EVIOCGREP:
        case EVIOCSREP:
            return fail(ENOSYS);
        default:
            return _IOC_DIR(request) == _IOC_READ ? give_sized(request, &pad, argument) : fail(EINVAL);
    }
}

/* What a program does with a device that it has opened. */
#include "instance-agent/gamepad/raw_names.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "instance-agent/gamepad/next.h"
#include "instance-agent/gamepad/pads.h"
#include "instance-agent/gamepad/questions.h"

/* SDL looks for devices in /dev/input when it does not ask udev, which knows of none here. */
__attribute__((constructor)) static void keep_from_udev(void) {
    setenv("SDL_JOYSTICK_DISABLE_UDEV", "1", 0);
}

SVCGAMEPAD_CALL int ioctl(int fd, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void* const argument = va_arg(more, void*);
    va_end(more);
    const int pad = is_question(request) ? pad_of_descriptor(fd) : NO_PAD;
    return pad != NO_PAD ? answer(fd, pad, request, argument) : NEXT(ioctl)(fd, request, argument);
}

/* A device that has gone fails with ENODEV; of a socket that is the end, or a reset. Half an event has no
 * use. */
static ssize_t read_of_device(int fd, ssize_t count, size_t room) {
    if (room < sizeof(struct input_event) || count > 0 || (count < 0 && errno != ECONNRESET)) return count;
    if (pad_of_descriptor(fd) == NO_PAD) return count;
    errno = ENODEV;
    return -1;
}

SVCGAMEPAD_CALL ssize_t read(int fd, void* room, size_t size) {
    return read_of_device(fd, NEXT(read)(fd, room, size), size);
}

ssize_t __read_chk(int fd, void* room, size_t size, size_t known);
SVCGAMEPAD_CALL ssize_t __read_chk(int fd, void* room, size_t size, size_t known) {
    return read_of_device(fd, NEXT(__read_chk)(fd, room, size, known), size);
}

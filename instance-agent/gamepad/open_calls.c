/* open() of a socket fails with ENXIO. So other files are opened as without the library. */
#include "instance-agent/gamepad/raw_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "instance-agent/gamepad/next.h"
#include "instance-agent/gamepad/pads.h"

static int or_pad(int fd, int folder, const char* path, int flags) {
    return fd < 0 && errno == ENXIO ? open_pad(folder, path, flags) : fd;
}

/* The mode, which is there when a file may be made. */
#define MODE_AFTER(flags, mode)                                       \
    mode_t mode = 0;                                                  \
    if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
        va_list more;                                                 \
        va_start(more, flags);                                        \
        mode = va_arg(more, mode_t);                                  \
        va_end(more);                                                 \
    }

SVCGAMEPAD_CALL int open(const char* path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return or_pad(NEXT(open)(path, flags, mode), AT_FDCWD, path, flags);
}

SVCGAMEPAD_CALL int open64(const char* path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return or_pad(NEXT(open64)(path, flags, mode), AT_FDCWD, path, flags);
}

SVCGAMEPAD_CALL int openat(int folder, const char* path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return or_pad(NEXT(openat)(folder, path, flags, mode), folder, path, flags);
}

SVCGAMEPAD_CALL int openat64(int folder, const char* path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return or_pad(NEXT(openat64)(folder, path, flags, mode), folder, path, flags);
}

/* What calls become in programs that are built with _FORTIFY_SOURCE. */
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);

SVCGAMEPAD_CALL int __open_2(const char* path, int flags) {
    return or_pad(NEXT(__open_2)(path, flags), AT_FDCWD, path, flags);
}

SVCGAMEPAD_CALL int __open64_2(const char* path, int flags) {
    return or_pad(NEXT(__open64_2)(path, flags), AT_FDCWD, path, flags);
}

SVCGAMEPAD_CALL int __openat_2(int folder, const char* path, int flags) {
    return or_pad(NEXT(__openat_2)(folder, path, flags), folder, path, flags);
}

SVCGAMEPAD_CALL int __openat64_2(int folder, const char* path, int flags) {
    return or_pad(NEXT(__openat64_2)(folder, path, flags), folder, path, flags);
}

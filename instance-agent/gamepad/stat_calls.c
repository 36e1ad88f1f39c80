/* A gamepad is a character device with a number of its own, by which SDL tells one from another. */
#include "instance-agent/gamepad/raw_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "instance-agent/gamepad/next.h"
#include "instance-agent/gamepad/pads.h"

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one form for both: this is for 64 bits");

static void make_device(struct stat* status, int pad) {
    if (pad == NO_PAD) return;
    status->st_mode = (status->st_mode & ~(mode_t)S_IFMT) | S_IFCHR;
    status->st_rdev = device_of_pad(pad);
}

static int by_path(int result, const char* path, void* status) {
    if (result == 0) make_device(status, pad_of_socket(path, status));
    return result;
}

static int by_descriptor(int result, int fd, struct stat* status) {
    if (result == 0 && S_ISSOCK(status->st_mode)) make_device(status, pad_of_descriptor(fd));
    return result;
}

SVCGAMEPAD_CALL int stat(const char* path, struct stat* status) {
    return by_path(NEXT(stat)(path, status), path, status);
}
SVCGAMEPAD_CALL int stat64(const char* path, struct stat64* status) {
    return by_path(NEXT(stat64)(path, status), path, status);
}
SVCGAMEPAD_CALL int lstat(const char* path, struct stat* status) {
    return by_path(NEXT(lstat)(path, status), path, status);
}
SVCGAMEPAD_CALL int lstat64(const char* path, struct stat64* status) {
    return by_path(NEXT(lstat64)(path, status), path, status);
}
SVCGAMEPAD_CALL int fstatat(int folder, const char* path, struct stat* status, int flags) {
    return by_path(NEXT(fstatat)(folder, path, status, flags), path, status);
}
SVCGAMEPAD_CALL int fstatat64(int folder, const char* path, struct stat64* status, int flags) {
    return by_path(NEXT(fstatat64)(folder, path, status, flags), path, status);
}
SVCGAMEPAD_CALL int fstat(int fd, struct stat* status) {
    return by_descriptor(NEXT(fstat)(fd, status), fd, status);
}
SVCGAMEPAD_CALL int fstat64(int fd, struct stat64* status) {
    return by_descriptor(NEXT(fstat64)(fd, status), fd, (struct stat*)status);
}

/* Of programs that were built before glibc 2.33. */
int __xstat(int version, const char* path, struct stat* status);
int __xstat64(int version, const char* path, struct stat64* status);
int __lxstat(int version, const char* path, struct stat* status);
int __lxstat64(int version, const char* path, struct stat64* status);
int __fxstat(int version, int fd, struct stat* status);
int __fxstat64(int version, int fd, struct stat64* status);

SVCGAMEPAD_CALL int __xstat(int version, const char* path, struct stat* status) {
    return by_path(NEXT(__xstat)(version, path, status), path, status);
}
SVCGAMEPAD_CALL int __xstat64(int version, const char* path, struct stat64* status) {
    return by_path(NEXT(__xstat64)(version, path, status), path, status);
}
SVCGAMEPAD_CALL int __lxstat(int version, const char* path, struct stat* status) {
    return by_path(NEXT(__lxstat)(version, path, status), path, status);
}
SVCGAMEPAD_CALL int __lxstat64(int version, const char* path, struct stat64* status) {
    return by_path(NEXT(__lxstat64)(version, path, status), path, status);
}
SVCGAMEPAD_CALL int __fxstat(int version, int fd, struct stat* status) {
    return by_descriptor(NEXT(__fxstat)(version, fd, status), fd, status);
}
SVCGAMEPAD_CALL int __fxstat64(int version, int fd, struct stat64* status) {
    return by_descriptor(NEXT(__fxstat64)(version, fd, status), fd, (struct stat*)status);
}

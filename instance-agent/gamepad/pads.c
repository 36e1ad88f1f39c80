#include "instance-agent/gamepad/raw_names.h"

#include "instance-agent/gamepad/pads.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define BOUND_PREFIX PAD_FOLDER "/" PAD_PREFIX

enum { INPUT_MAJOR = 13, FIRST_EVENT_MINOR = 64, MOST_DIGITS = 5 };

/* The number that a text begins with, when `after` follows it. */
static int number_before(const char* text, const char* after) {
    int number = 0, digits = 0;
    for (; digits < MOST_DIGITS && text[digits] >= '0' && text[digits] <= '9'; ++digits)
        number = number * 10 + (text[digits] - '0');
    return digits > 0 && strcmp(text + digits, after) == 0 ? number : NO_PAD;
}

static int number_in_name(const char* path) {
    static const char prefix[] = "event";
    const char* const slash = strrchr(path, '/');
    const char* const name = slash != NULL ? slash + 1 : path;
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0) return NO_PAD;
    return number_before(name + sizeof(prefix) - 1, "");
}

int pad_of_descriptor(int fd) {
    const int before = errno;
    struct sockaddr_un peer = {0};
    socklen_t size = sizeof(peer) - 1;
    const bool known = getpeername(fd, (struct sockaddr*)&peer, &size) == 0 && peer.sun_family == AF_UNIX;
    errno = before;
    if (!known || strncmp(peer.sun_path, BOUND_PREFIX, sizeof(BOUND_PREFIX) - 1) != 0) return NO_PAD;
    return number_before(peer.sun_path + sizeof(BOUND_PREFIX) - 1, PAD_BOUND_SUFFIX);
}

/* Past the library's own stat(). */
static bool same_as_named(int pad, const struct stat* status) {
    char path[sizeof(PAD_FOLDER) + 16];
    struct stat named;
    snprintf(path, sizeof(path), PAD_FOLDER "/event%d", pad);
    return syscall(SYS_newfstatat, AT_FDCWD, path, &named, 0) == 0 && named.st_dev == status->st_dev &&
           named.st_ino == status->st_ino;
}

int pad_of_socket(const char* path, const struct stat* status) {
    if (!S_ISSOCK(status->st_mode)) return NO_PAD;
    const int before = errno;
    const int pad = number_in_name(path);
    const bool ours = pad != NO_PAD && same_as_named(pad, status);
    errno = before;
    return ours ? pad : NO_PAD;
}

static bool address_of(int folder, const char* path, struct sockaddr_un* address) {
    address->sun_family = AF_UNIX;
    const bool whole = path[0] == '/' || folder == AT_FDCWD;
    const int size =
        whole ? snprintf(address->sun_path, sizeof(address->sun_path), "%s", path)
              : snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", folder, path);
    return size > 0 && (size_t)size < sizeof(address->sun_path);
}

/* Without waiting: a streamer that has stopped does not stop the program. */
static int connect_pad(const struct sockaddr_un* address) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr*)address, sizeof(*address)) == 0 &&
        pad_of_descriptor(fd) != NO_PAD)
        return fd;
    const int error = errno;
    close(fd);
    errno = error == EACCES ? EACCES : error == EAGAIN ? EBUSY : ENXIO;
    return -1;
}

static int with_flags(int fd, int flags) {
    if ((flags & O_NONBLOCK) == 0) fcntl(fd, F_SETFL, 0);
    if ((flags & O_CLOEXEC) == 0) fcntl(fd, F_SETFD, 0);
    return fd;
}

int open_pad(int folder, const char* path, int flags) {
    struct sockaddr_un address = {0};
    errno = ENXIO;
    if (number_in_name(path) == NO_PAD || !address_of(folder, path, &address)) return -1;
    const int fd = connect_pad(&address);
    return fd < 0 ? -1 : with_flags(fd, flags);
}

bool describe_pad(int pad, struct pad_description* description) {
    char path[sizeof(BOUND_PREFIX) + 16];
    snprintf(path, sizeof(path), BOUND_PREFIX "%d", pad);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t size = pread(fd, description, sizeof(*description), 0);
    close(fd);
    return size == (ssize_t)sizeof(*description) && description->version == PAD_VERSION;
}

dev_t device_of_pad(int pad) {
    return makedev(INPUT_MAJOR, (unsigned)(FIRST_EVENT_MINOR + pad));
}

/* Internal: gamepads of the streamer by file names and by descriptors. Nothing is remembered: what a
 * descriptor is the kernel tells, so that dup(), fork() and execve() need no care. Any thread. */
#ifndef SVCGAMEPAD_PADS_H
#define SVCGAMEPAD_PADS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "instance-agent/gamepad/pad_wire.h"

enum { NO_PAD = -1 };

/* The number of the pad that the descriptor is connected with. errno stays. */
int pad_of_descriptor(int fd);
/* The number of the pad whose socket that is. `path` is relative to `folder` as for openat(). errno stays. */
int pad_of_socket(const char* path, const struct stat* status);
/* A connection with the pad, as openat() would return it; -1 and errno. ENXIO, as of openat(): that is no
 * pad. */
int open_pad(int folder, const char* path, int flags);
/* False: the pad has gone. */
bool describe_pad(int pad, struct pad_description* description);
/* The number of its device, as a kernel would give it. */
dev_t device_of_pad(int pad);

#endif

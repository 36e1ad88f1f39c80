#pragma once
// The part of starting a child process that runs between clone and exec. Used by process.cpp alone.
#include <sys/types.h>

#include "libsvc/base/file.h"
#include "libsvc/base/process.h"

namespace svc {

struct SpawnedProcess {
    pid_t pid = -1;
    FileDescriptor pidfd;
    int exec_error = 0;  // errno of what failed in the child, which then has ended and is to be reaped
};

// The child has default signal handlers, an empty signal mask and the named descriptors only. Any thread.
SpawnedProcess spawn_process(const SpawnOptions& options);

}  // namespace svc

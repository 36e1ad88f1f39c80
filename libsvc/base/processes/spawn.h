#pragma once
// The part of starting a child process that runs between clone and exec. Used by process.cpp alone.
#include <sys/types.h>

#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"

namespace svc {

struct SpawnedProcess {
    pid_t pid = -1;
    FileDescriptor pidfd;
    int exec_error =
        0;  // errno of the call that failed in the child; the child has ended and is to be reaped
};

// Starts a child that shares the parent's memory until exec (clone with CLONE_VM and CLONE_VFORK), which is
// safe in a process with threads and does not copy page tables. The child has default signal handlers, an
// empty signal mask and only the descriptors that are named. Any thread.
SpawnedProcess spawn_process(const SpawnOptions& options);

}  // namespace svc

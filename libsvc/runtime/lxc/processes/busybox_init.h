#pragma once
// How far busybox's init has come with its end. It runs its shutdown actions, sends SIGTERM to all others,
// syncs, sleeps for a second, sends SIGKILL, syncs, sleeps for another, and powers off; it sleeps as long
// where no process is left. docs/runtime.md, "An init that only sleeps". Any thread.
#include <sys/types.h>

#include <string_view>

namespace svc::lxc {

// The state of a process, as /proc has it.
struct InitState {
    std::string_view program;  // "/bin/busybox", what `exe` leads to
    std::string_view command;  // `cmdline`
    std::string_view status;
    std::string_view syscall;
};

// True: this is busybox's init in one of these two sleeps, and none that the same program makes elsewhere. It
// has SIGUSR2 caught or blocked as long as it waits for that signal, and neither from the moment on at which
// it has begun to end. Where it runs an action or syncs it is in another system call. False for what cannot
// be told: a program of another word size, a kernel without /proc/<pid>/syscall.
bool is_asleep_at_end(const InitState& init);
bool is_asleep_at_end(pid_t init);  // of this machine; false for one that is gone

}  // namespace svc::lxc

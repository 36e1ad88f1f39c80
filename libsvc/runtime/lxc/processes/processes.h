#pragma once
// Signals to processes by pidfd, and waiting for their end. Any thread.
#include <sys/types.h>

#include <chrono>
#include <initializer_list>

#include "libsvc/base/file.h"

namespace svc::lxc {

// True when `fd` is readable or hung up before `deadline`.
bool poll_until(int fd, std::chrono::steady_clock::time_point deadline);
// One of them.
bool poll_until(std::initializer_list<int> fds, std::chrono::steady_clock::time_point deadline);
std::chrono::steady_clock::time_point deadline_after(std::chrono::milliseconds limit);

// Reaps a process if it is a child of this process that has ended. Monitors become children, as this process
// is a subreaper.
void reap(int pidfd);
// True when the process has ended within `limit`; then it is reaped.
bool wait_for_end(int pidfd, std::chrono::milliseconds limit);
// A command in a container whose helper was killed is a child of this process, and nobody waits for it. Reaps
// those that have ended: until then the kernel keeps the init of their container.
void reap_lost_commands();
void send_signal(int pidfd, int signal);
bool has_ended(int pidfd);
pid_t pid_of(int pidfd);  // -1: it has ended, or there is none

}  // namespace svc::lxc

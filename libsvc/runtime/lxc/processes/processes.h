#pragma once
// Ending processes by pidfd, and waiting until they are gone.
#include <sys/types.h>

#include <chrono>

#include "libsvc/base/file.h"

namespace svc::lxc {

// True when `fd` is readable or hung up before `deadline`.
bool poll_until(int fd, std::chrono::steady_clock::time_point deadline);
std::chrono::steady_clock::time_point deadline_after(std::chrono::milliseconds limit);

// Reaps a process if it is a child of ours that has ended; we inherit monitors as their subreaper.
void reap(int pidfd);
// True when the process has ended within `limit`; reaps it.
bool wait_for_end(int pidfd, std::chrono::milliseconds limit);
void send_signal(int pidfd, int signal);
bool has_ended(int pidfd);

}  // namespace svc::lxc

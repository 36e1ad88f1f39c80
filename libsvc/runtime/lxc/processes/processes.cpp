#include "libsvc/runtime/lxc/processes/processes.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace svc::lxc {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool poll_until(int fd, steady_clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
        pollfd entry{fd, POLLIN, 0};
        const int ready =
            ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
        if (ready > 0) return true;
        if (ready == 0 && steady_clock::now() >= deadline) return false;
    }
}

steady_clock::time_point deadline_after(milliseconds limit) {
    return steady_clock::now() + std::min<milliseconds>(limit, std::chrono::hours(24 * 365));
}

void reap(int pidfd) {
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
}

bool wait_for_end(int pidfd, milliseconds limit) {
    if (pidfd < 0) return true;
    if (!poll_until(pidfd, deadline_after(limit))) return false;
    reap(pidfd);
    return true;
}

void send_signal(int pidfd, int signal) {
    if (pidfd >= 0) ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0U);
}

bool has_ended(int pidfd) {
    pollfd entry{pidfd, POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
}

}  // namespace svc::lxc

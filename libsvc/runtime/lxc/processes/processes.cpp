#include "libsvc/runtime/lxc/processes/processes.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Such as a command or an init; monitors and helpers have one pid alone.
bool is_in_container(std::string_view pid) {
    const std::string status = read_or_empty("/proc/" + std::string(pid) + "/status");
    const std::size_t line = status.find("\nNSpid:");
    if (line == std::string::npos) return false;
    const std::string_view pids = std::string_view(status).substr(line + 7);
    return split(trim(pids.substr(0, pids.find('\n'))), '\t').size() > 1;
}

void reap_child(std::string_view pid) {
    id_t number = 0;
    std::from_chars(pid.data(), pid.data() + pid.size(), number);
    siginfo_t info{};
    if (number > 0) ::waitid(P_PID, number, &info, WEXITED | WNOHANG);
}

}  // namespace

bool poll_until(std::initializer_list<int> fds, steady_clock::time_point deadline) {
    std::vector<pollfd> entries;
    for (const int fd : fds) entries.push_back({fd, POLLIN, 0});
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
        const int ready = ::poll(entries.data(), entries.size(),
                                 static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
        if (ready > 0) return true;
        if (ready == 0 && steady_clock::now() >= deadline) return false;
    }
}

bool poll_until(int fd, steady_clock::time_point deadline) {
    return poll_until({fd}, deadline);
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

void reap_lost_commands() {
    std::error_code ended;  // a thread that ends meanwhile hands its children on
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ended))
        for (const std::string& pid : split(trim(read_or_empty(thread.path() / "children")), ' '))
            if (!pid.empty() && is_in_container(pid)) reap_child(pid);
}

pid_t pid_of(int pidfd) {
    const std::string info = read_or_empty("/proc/self/fdinfo/" + std::to_string(pidfd));
    const std::size_t line = info.find("\nPid:");
    if (line == std::string::npos) return -1;
    pid_t pid = -1;
    const std::string_view number = trim(std::string_view(info).substr(line + 5));
    std::from_chars(number.data(), number.data() + number.size(), pid);
    return pid;
}

void send_signal(int pidfd, int signal) {
    if (pidfd >= 0) ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0U);
}

bool has_ended(int pidfd) {
    pollfd entry{pidfd, POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
}

}  // namespace svc::lxc

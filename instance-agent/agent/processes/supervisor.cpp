#include "instance-agent/agent/processes/supervisor.h"

#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <exception>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

sigset_t supervised_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGPWR, SIGUSR2, SIGRTMIN + 3})
        sigaddset(&signals, number);
    return signals;
}

[[noreturn]] void be_child(const std::function<int()>& work, const sigset_t& mask, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    int result = 1;
    try {
        result = work();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "svc-agent: %s\n", e.what());
    }
    std::fflush(nullptr);
    ::_exit(result);
}

// Reaps all children that have ended. True when `child` was one of them.
bool reap_all(pid_t child, int* status) {
    bool found = false;
    for (;;) {
        int ended = 0;
        const pid_t pid = ::waitpid(-1, &ended, WNOHANG);
        if (pid <= 0) return found;
        if (pid != child) continue;
        *status = ended;
        found = true;
    }
}

// Outside of an instance this process is not the first one; as a subreaper it still inherits orphans of
// hooks.
void adopt_orphans(bool on) {
    if (::getpid() != 1) ::prctl(PR_SET_CHILD_SUBREAPER, on ? 1UL : 0UL);
}

}  // namespace

int supervise(const std::function<int()>& work, bool* told_to_end) {
    const sigset_t signals = supervised_signals();
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &signals, &before);
    adopt_orphans(true);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) throw system_error("cannot start a process", errno);
    if (child == 0) be_child(work, before, parent);
    int status = 0;
    *told_to_end = false;
    while (!*told_to_end) {
        int number = 0;
        ::sigwait(&signals, &number);
        *told_to_end = number != SIGCHLD;
        if (*told_to_end) status = number;
        if (!*told_to_end && reap_all(child, &status)) break;
    }
    if (*told_to_end) ::kill(child, SIGKILL);
    adopt_orphans(false);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (*told_to_end) return 128 + status;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int become(const char* const* program) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number <= SIGRTMAX; ++number) ::sigaction(number, &standard, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    ::execv(program[0], const_cast<char* const*>(program));
    return errno;
}

}  // namespace svc::agent

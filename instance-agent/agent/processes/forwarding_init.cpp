#include "instance-agent/agent/processes/forwarding_init.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr int not_executed = 127;

// What the container's own parent ignores stays ignored over exec(), and a shell cannot trap it then.
[[noreturn]] void run_child(const std::function<void()>& become) {
    for (int signal = 1; signal < SIGRTMIN; ++signal) ::signal(signal, SIG_DFL);
    try {
        become();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "svc-agent: %s\n", e.what());
    }
    ::_exit(not_executed);
}

// The status of `child`, if it is among those that have ended.
std::optional<int> reap(pid_t child) {
    std::optional<int> ended;
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG))
        if (pid == child) ended = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return ended;
}

bool asks_for_end(int signal) {
    return signal == SIGPWR || signal == SIGTERM || signal == SIGRTMIN + 3;
}

// What the child gets of signals that come.
class Forwarding {
  public:
    Forwarding(pid_t child, int stop_signal) : child_(child), stop_signal_(stop_signal) {}
    void forward(int signal) {
        if (asks_for_end(signal))
            ask_for_end();
        else
            ::kill(child_, signal);
    }

  private:
    // Runtimes send more than one such signal at a time, and programs take a second one for impatience.
    void ask_for_end() {
        const auto now = std::chrono::steady_clock::now();
        if (now < again_) return;
        again_ = now + std::chrono::seconds(1);
        ::kill(child_, stop_signal_);
    }

    pid_t child_;
    int stop_signal_;
    std::chrono::steady_clock::time_point again_{};  // when it may be asked again
};

}  // namespace

BlockedSignals::BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &former_);
}

void BlockedSignals::restore() const {
    sigprocmask(SIG_SETMASK, &former_, nullptr);
}

int run_below_init(const std::function<void()>& become, int stop_signal) {
    sigset_t all;
    sigfillset(&all);
    ::signal(SIGCHLD, SIG_DFL);  // ignored, it would not come
    const pid_t child = ::fork();
    if (child < 0) throw system_error("cannot start the program", errno);
    if (child == 0) run_child(become);
    Forwarding forwarding(child, stop_signal);
    for (;;) {
        const int signal = ::sigwaitinfo(&all, nullptr);
        if (signal == SIGCHLD) {
            if (const auto status = reap(child)) return *status;
        } else if (signal > 0) {
            forwarding.forward(signal);
        }
    }
}

}  // namespace svc::agent

#pragma once
// The process of a daemon: signals, its messages on standard error and to systemd, exit statuses.
#include <sys/stat.h>

#include <csignal>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace svc::process {

inline constexpr int failed = 1;
inline constexpr int wrong_usage = 2;  // or a configuration that is wrong

// Writes "<program>: <text>" to standard error.
void say(std::string_view program, std::string_view text);
// Returns the exit status of `body`. When it throws, writes the error to standard error and returns
// wrong_usage for invalid_argument, else `otherwise`.
int exit_status_of(std::string_view program, int otherwise, const std::function<int()>& body);

// The main() of a daemon: `read` gives an Invocation, `run` runs with its options. Files that it makes are
// for its user alone.
template <typename Read, typename Run>
int run_program(std::string_view program, const Read& read, const Run& run) {
    umask(077);
    decltype(read()) invocation;
    const int status = exit_status_of(program, wrong_usage, [&] {
        invocation = read();
        return invocation.exit_status;
    });
    if (status != 0 || invocation.finished) return status;
    if (invocation.options.check_only) {
        std::cout << "configuration is valid\n";
        return 0;
    }
    return exit_status_of(program, failed, [&] { return run(invocation.options); });
}

// While it lives, SIGTERM and SIGINT end the process: one thread does not block them.
class EndingSignals {
  public:
    EndingSignals();

  private:
    std::jthread thread_;
};

// Make one in a process, before there is a second thread: the main thread alone receives the signals. SIGPIPE
// is ignored.
class Signals {
  public:
    explicit Signals(std::initializer_list<int> taken);
    // Returns what `start` returns. Meanwhile a signal that ends the daemon ends the process at once, as
    // SIGKILL does at any moment: a start may wait for others without limit.
    template <typename Start>
    auto starting(const Start& start) const {
        const EndingSignals ending;
        return start();
    }
    // Writes "ready" and the addresses to standard error and tells systemd. Returns when a signal ends the
    // daemon. SIGHUP, where it is taken, calls `reload`, whose errors are logged.
    void serve(std::string_view program, const std::vector<std::string>& addresses,
               const std::function<void()>& reload = {}) const;

  private:
    sigset_t signals_{};
};

}  // namespace svc::process

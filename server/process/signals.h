#pragma once
// The life of a daemon's process as its user, its shell and systemd see it: signals, what it says of itself,
// exit statuses.
#include <sys/stat.h>

#include <csignal>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace svc::process {

inline constexpr int failed = 1;
inline constexpr int wrong_usage = 2;  // or a configuration that is wrong

// To standard error, after the program's name.
void say(std::string_view program, std::string_view text);
// What `body` returns. What it throws is said, and becomes wrong_usage for invalid_argument, else
// `otherwise`.
int exit_status_of(std::string_view program, int otherwise, const std::function<int()>& body);

// A daemon's main(): `read` gives an Invocation, `run` obeys its options. Nobody but our user may use the
// files that it makes.
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

// One per process, made before there is a second thread: the main thread alone takes the signals. SIGPIPE is
// ignored.
class Signals {
  public:
    explicit Signals(std::initializer_list<int> taken);
    // Says "ready" and where it listens, then returns when a signal asks for the end; SIGHUP, where it is
    // taken, calls `reload`. What that throws is logged.
    void serve(std::string_view program, const std::vector<std::string>& addresses,
               const std::function<void()>& reload = {}) const;

  private:
    sigset_t signals_{};
};

}  // namespace svc::process

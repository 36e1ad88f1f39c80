#pragma once
// The life of a daemon's process as its user, its shell and systemd see it: signals, what it says of itself,
// exit statuses.
#include <csignal>
#include <functional>
#include <initializer_list>
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

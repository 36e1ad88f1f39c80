#pragma once
// The real svcd as a child process, to be killed at the worst moment.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/processes/process.h"
#include "libsvc/net/client/target.h"

namespace svc::test {

// Exit status and output of a run of svcd.
struct DaemonRun {
    int status = 0;
    std::string output;  // of both streams
};
// `flags` after the program's name. Throws unavailable when it does not end within a minute.
DaemonRun run_svcd(const std::vector<std::string>& flags);

// svcd while it starts, which may take as long as the test wants. One thread. Killed with the object.
class StartingDaemon {
  public:
    // What it tells systemd goes to the socket `systemd`.
    explicit StartingDaemon(const std::vector<std::string>& flags, const std::string& systemd = "");
    // Reads what it writes until the text comes. False: it ends without that. Throws unavailable when it says
    // nothing for a minute.
    bool says(std::string_view text);
    void signal(int number) const { child_->kill(number); }
    std::optional<ExitStatus> wait();  // nothing: still running after a minute

  private:
    FileDescriptor output_;
    std::string said_;
    std::optional<Child> child_;
};

// One thread. Killed with the object.
class DaemonProcess {
  public:
    // Simulated runtime, state and socket below `directory`, no TCP ports; `settings` are lines of its
    // configuration file. Returns when it is ready; throws with its words when it is not within a minute.
    explicit DaemonProcess(const std::filesystem::path& directory,
                           const std::vector<std::string>& settings = {});

    Target target() const;
    void signal(int number) const { child_->kill(number); }
    void kill();                       // SIGKILL, and waits for the end
    std::optional<ExitStatus> wait();  // nothing: still running after a minute
    const std::string& ready_line() const { return ready_line_; }
    pid_t pid() const { return child_->pid(); }

  private:
    std::string read_until_ready();

    std::filesystem::path socket_;
    FileDescriptor errors_;
    std::optional<Child> child_;
    std::string ready_line_;
};

}  // namespace svc::test

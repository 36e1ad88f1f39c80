#pragma once
// Child processes, and naming a process so that a reused pid is never mistaken for ours.
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/file.h"

namespace svc {

// A pid with the kernel's start time of it (clock ticks since boot).
struct ProcessId {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
    bool operator==(const ProcessId&) const = default;
};
// These answer that a process is gone only when the kernel said so. Where it could not be asked (too many
// open files, no memory, no access) they throw: nobody may be taken for dead because we could not look.
std::optional<ProcessId> identify_process(pid_t pid);  // nothing: no such process, or a zombie
bool is_alive(const ProcessId& process);
// Owned pidfd that becomes readable when the process ends; empty when it is gone already.
FileDescriptor open_process(const ProcessId& process);
FileDescriptor open_pid(pid_t pid);  // the same without a start time to compare

struct SpawnOptions {
    std::vector<std::string> arguments;            // [0] is the program, an absolute path
    std::vector<std::string> environment;          // "KEY=value"; nothing is inherited
    std::vector<std::pair<int, int>> descriptors;  // {ours, theirs}; 0-2 are /dev/null unless named here
    bool new_session = false;                      // setsid() before exec
    std::string directory;                         // to start in; "": ours
};
// The soft limit of open files that programs get which are started from now on: for a process that has raised
// its own. Without it they inherit ours.
void set_file_limit_of_children(std::uint64_t files);

// How many files this process may open still.
std::uint64_t free_descriptors();

struct ExitStatus {
    int code = 0;    // exit code, or 128 + signal
    int signal = 0;  // 0: exited by itself
};

// A running child. Not thread-safe. The destructor kills and reaps it unless it has ended or was released.
class Child {
  public:
    explicit Child(const SpawnOptions& options);  // vfork-like spawn, safe in a threaded process
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    pid_t pid() const noexcept { return pid_; }
    int pidfd() const noexcept { return pidfd_.get(); }  // readable when ended
    ExitStatus wait();
    std::optional<ExitStatus> wait_for(std::chrono::milliseconds limit);
    void kill(int signal) const;

  private:
    pid_t pid_ = -1;
    FileDescriptor pidfd_;
    std::optional<ExitStatus> status_;
};

struct CommandResult {
    ExitStatus status;
    std::string output;  // standard output, at most 1 MiB
    std::string errors;  // standard error, at most 64 KiB
};
// Runs to the end; throws Error `unavailable` on timeout after killing the child's group.
CommandResult run_command(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                          std::string_view input = "");

}  // namespace svc

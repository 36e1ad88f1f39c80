#pragma once
// Child processes, and names of processes that a reused pid cannot be mistaken for.
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/file.h"

namespace svc {

// A pid with the start time of its process (clock ticks since boot).
struct ProcessId {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
    bool operator==(const ProcessId&) const = default;
};
// The next four say that a process has ended only when the kernel says so. They throw where the kernel could
// not be asked (too many open files, no memory, no access), so that no live process is taken for an ended
// one.
std::optional<ProcessId> identify_process(pid_t pid);  // nothing: no such process, or a zombie
bool is_alive(const ProcessId& process);
// A pidfd, which becomes readable when the process ends; empty when the process has ended.
FileDescriptor open_process(const ProcessId& process);
FileDescriptor open_pid(pid_t pid);  // the same without a start time to compare

// What a child is kept from that works on what a stranger made. It runs in namespaces of its own for
// processes, network and System V IPC, as the first process of the first: when it ends, all that it started
// ends. It has no capabilities and gets none by exec, starts no further process, and no file grows by it.
// Such a child can be started by root alone: else starting it throws (EPERM).
struct Confinement {
    unsigned user = 65534;                                  // and group: "nobody"
    std::uint64_t memory_bytes = std::uint64_t{512} << 20;  // address space
    std::uint64_t cpu_seconds = 10;
    std::uint64_t files = 32;
};

struct SpawnOptions {
    std::vector<std::string> arguments;            // [0] is the program, an absolute path
    std::vector<std::string> environment;          // "KEY=value"; nothing is inherited
    std::vector<std::pair<int, int>> descriptors;  // {parent's, child's}; 0 to 2 are /dev/null unless named
    bool ends_with_us = false;                     // killed when the thread that spawned it ends, or we do
    bool new_session = false;                      // setsid() before exec
    std::string directory;                         // working directory; "": the parent's
    std::optional<Confinement> confinement;        // nothing: the parent's rights
};
// Sets the soft limit of open files of children that are started from now on. For a process that has raised
// its own limit; without a call children inherit that.
void set_file_limit_of_children(std::uint64_t files);

// How many more files this process may open.
std::uint64_t free_descriptors();

struct ExitStatus {
    int code = 0;    // exit code, or 128 + signal
    int signal = 0;  // 0: it exited without a signal
};

// A child process. Not thread-safe. The destructor kills and reaps it unless it has ended.
class Child {
  public:
    explicit Child(const SpawnOptions& options);  // safe in a process with threads; see spawn.h
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    pid_t pid() const noexcept { return pid_; }
    int pidfd() const noexcept { return pidfd_.get(); }  // readable when the child has ended
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
// Runs a command until it ends. On a time-out kills the command's process group and throws unavailable.
CommandResult run_command(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                          std::string_view input = "");
// The same for a command with options of its own; their descriptors name neither 1 nor 2. The limit also
// holds for what a confined command started.
CommandResult run_command(SpawnOptions options, std::chrono::milliseconds limit);

}  // namespace svc

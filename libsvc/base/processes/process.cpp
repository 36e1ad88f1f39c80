#include "libsvc/base/processes/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "libsvc/base/error.h"
#include "libsvc/base/processes/spawn.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t max_output = 1U << 20;
constexpr std::size_t max_errors = 64U << 10;

std::string program_name(const std::vector<std::string>& arguments) {
    return quoted(std::filesystem::path(arguments.at(0)).filename().native());
}

// Milliseconds until `deadline` for poll(), rounded up so that it does not spin through the last one.
int poll_timeout(steady_clock::time_point deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

ExitStatus to_status(const siginfo_t& info) {
    if (info.si_code == CLD_EXITED) return {info.si_status, 0};
    return {128 + info.si_status, info.si_status};
}

// The reading end of a pipe that a command writes to; bytes over the limit are read and dropped.
class Drain {
  public:
    Drain(FileDescriptor source, std::string& sink, std::size_t limit)
        : source_(std::move(source)), sink_(sink), limit_(limit) {}

    int fd() const { return source_.get(); }  // -1, which poll() skips, after the end

    void read_available() {
        std::array<char, 16384> buffer;
        while (source_) {
            const ssize_t got = ::read(source_.get(), buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && errno == EAGAIN) return;
            if (got <= 0) return source_.reset();
            sink_.append(buffer.data(), std::min(static_cast<std::size_t>(got), limit_ - sink_.size()));
        }
    }

  private:
    FileDescriptor source_;
    std::string& sink_;
    std::size_t limit_;
};

struct Pipe {
    FileDescriptor read, write;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// A file and not a pipe: nothing to feed while the command runs, and no SIGPIPE when it does not read.
FileDescriptor make_input(std::string_view input) {
    FileDescriptor file(::memfd_create("input", MFD_CLOEXEC));
    if (!file) throw system_error("cannot make an input file", errno);
    write_all(file.get(), input);
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

// Nothing: there is no such process, or it ended meanwhile.
std::optional<std::string> read_stat(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> text;
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
    if (got >= 0) return std::string(text.data(), static_cast<std::size_t>(got));
    if (errno == ENOENT || errno == ESRCH) return std::nullopt;
    throw system_error("cannot look at a process", errno);
}

// Reads what is written until the command ends; does not wait for a grandchild that keeps the pipe open.
void collect(const Child& child, std::array<Drain, 2>& drains, steady_clock::time_point deadline,
             const std::vector<std::string>& arguments, milliseconds limit) {
    for (;;) {
        std::array<pollfd, 3> fds{
            {{child.pidfd(), POLLIN, 0}, {drains[0].fd(), POLLIN, 0}, {drains[1].fd(), POLLIN, 0}}};
        const int ready = ::poll(fds.data(), fds.size(), poll_timeout(deadline));
        if (ready < 0 && errno != EINTR)
            throw system_error("cannot wait for " + program_name(arguments), errno);
        const bool ended = ready > 0 && fds[0].revents != 0;
        for (Drain& drain : drains) drain.read_available();
        if (ended) return;
        if (steady_clock::now() < deadline) continue;
        ::kill(-child.pid(), SIGKILL);  // not reaped yet, so the pid is still the child's
        throw Error(ErrorCode::unavailable, "command " + program_name(arguments) + " did not end within " +
                                                std::to_string(limit.count()) + " ms");
    }
}

// The number of open descriptors. Nothing: there is no descriptor left to open the directory with. Kernels
// before Linux 6.2 do not give the number as the size of the directory; there the entries are counted.
std::optional<std::uint64_t> open_descriptors() {
    constexpr const char* directory = "/proc/self/fd";
    struct stat info {};
    if (::stat(directory, &info) != 0) throw system_error("cannot count open files", errno);
    if (info.st_size > 0) return static_cast<std::uint64_t>(info.st_size);
    std::error_code failure;
    std::filesystem::directory_iterator entry(directory, failure);
    if (failure == std::errc::too_many_files_open) return std::nullopt;
    std::uint64_t count = 0;
    for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) ++count;
    if (failure) throw system_error("cannot count open files", failure.value());
    return count - 1;  // the iterator's own
}

}  // namespace

std::optional<ProcessId> identify_process(pid_t pid) {
    if (pid <= 0) return std::nullopt;
    const auto stat = read_stat(pid);
    if (!stat) return std::nullopt;
    // "pid (name) state ppid ...": the name may hold anything, so count from its last parenthesis.
    const std::size_t name_end = std::min(stat->rfind(')'), stat->size());
    const std::string_view rest = std::string_view(*stat).substr(std::min(name_end + 2, stat->size()));
    const std::vector<std::string> fields = split(rest, ' ');
    constexpr std::size_t state = 0;
    constexpr std::size_t start_time = 19;  // field 22, counted from field 3
    if (fields.size() <= start_time)
        throw Error(ErrorCode::internal, "cannot look at a process: its state is not readable");
    if (fields[state] == "Z" || fields[state] == "X") return std::nullopt;
    ProcessId process{pid, 0};
    const std::string& text = fields[start_time];
    std::from_chars(text.data(), text.data() + text.size(), process.start_ticks);
    return process;
}

bool is_alive(const ProcessId& process) {
    return identify_process(process.pid) == process;
}

FileDescriptor open_process(const ProcessId& process) {
    FileDescriptor pidfd = open_pid(process.pid);
    // Checked after opening: the descriptor means one process from here on.
    if (pidfd && !is_alive(process)) pidfd.reset();
    return pidfd;
}

FileDescriptor open_pid(pid_t pid) {
    FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
    if (!pidfd && errno != ESRCH && errno != EINVAL) throw system_error("cannot open a process", errno);
    return pidfd;
}

std::uint64_t free_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw system_error("cannot read the limit of open files", errno);
    const std::optional<std::uint64_t> open = open_descriptors();
    return open && *open < limit.rlim_cur ? limit.rlim_cur - *open : 0;
}

Child::Child(const SpawnOptions& options) {
    if (options.arguments.empty()) throw Error(ErrorCode::invalid_argument, "command is empty");
    SpawnedProcess spawned = spawn_process(options);
    pid_ = spawned.pid;
    pidfd_ = std::move(spawned.pidfd);
    if (spawned.exec_error == 0) return;
    wait();
    const std::string what = "cannot run " + program_name(options.arguments);
    if (spawned.exec_error == ENOENT) throw Error(ErrorCode::not_found, what + ": no such file or directory");
    throw system_error(what, spawned.exec_error);
}

Child::~Child() {
    if (!pidfd_ || status_) return;
    try {
        kill(SIGKILL);
        wait();
    } catch (const Error&) {
        return;  // another thread reaped it
    }
}

Child::Child(Child&& other) noexcept
    : pid_(other.pid_), pidfd_(std::move(other.pidfd_)), status_(other.status_) {}

ExitStatus Child::wait() {
    siginfo_t info{};
    while (!status_) {
        if (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) == 0)
            status_ = to_status(info);
        else if (errno != EINTR)
            throw system_error("cannot wait for a child process", errno);
    }
    return *status_;
}

std::optional<ExitStatus> Child::wait_for(milliseconds limit) {
    const auto deadline = steady_clock::now() + std::min(limit, milliseconds(std::chrono::hours(24 * 365)));
    while (!status_) {
        pollfd ended{pidfd_.get(), POLLIN, 0};
        const int ready = ::poll(&ended, 1, poll_timeout(deadline));
        if (ready > 0) return wait();
        if (ready < 0 && errno != EINTR) throw system_error("cannot wait for a child process", errno);
        if (steady_clock::now() >= deadline) return std::nullopt;
    }
    return status_;
}

void Child::kill(int signal) const {
    if (status_) return;
    if (syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0U) != 0 && errno != ESRCH)
        throw system_error("cannot signal a child process", errno);
}

CommandResult run_command(const std::vector<std::string>& arguments, milliseconds limit,
                          std::string_view input) {
    SpawnOptions options;
    options.arguments = arguments;
    // The last two are for Android guests.
    options.environment = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/system/bin:"
        "/system/xbin",
        "LC_ALL=C.UTF-8"};
    const FileDescriptor input_file = input.empty() ? FileDescriptor() : make_input(input);
    if (input_file) options.descriptors.emplace_back(input_file.get(), 0);
    return run_command(std::move(options), limit);
}

CommandResult run_command(SpawnOptions options, milliseconds limit) {
    options.new_session = true;  // a group of its own, to be killed as one
    Pipe output = make_pipe();
    Pipe errors = make_pipe();
    options.descriptors.emplace_back(output.write.get(), 1);
    options.descriptors.emplace_back(errors.write.get(), 2);

    const auto deadline = steady_clock::now() + std::min(limit, milliseconds(std::chrono::hours(24 * 365)));
    Child child(options);
    output.write.reset();
    errors.write.reset();
    CommandResult result;
    std::array<Drain, 2> drains{{{std::move(output.read), result.output, max_output},
                                 {std::move(errors.read), result.errors, max_errors}}};
    collect(child, drains, deadline, options.arguments, limit);
    result.status = child.wait();
    return result;
}

}  // namespace svc

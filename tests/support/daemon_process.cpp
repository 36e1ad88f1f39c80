#include "tests/support/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::test {

namespace {

constexpr std::chrono::seconds patience{60};

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe", errno);
        read_end = FileDescriptor(ends[0]);
        write_end = FileDescriptor(ends[1]);
    }
    FileDescriptor read_end, write_end;
};

// Empty when the other side has closed it. Throws unavailable when nothing comes.
std::string read_some(int fd) {
    pollfd wanted{fd, POLLIN, 0};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
    if (poll(&wanted, 1, static_cast<int>(limit.count())) != 1)
        throw Error(ErrorCode::unavailable, "svcd says nothing");
    std::array<char, 4096> buffer{};
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
}

}  // namespace

DaemonRun run_svcd(const std::vector<std::string>& flags) {
    Pipe pipe;
    SpawnOptions options;
    options.arguments = {SVC_DAEMON_PROGRAM};
    options.arguments.insert(options.arguments.end(), flags.begin(), flags.end());
    options.descriptors = {{pipe.write_end.get(), 1}, {pipe.write_end.get(), 2}};
    Child child(options);
    pipe.write_end.reset();
    DaemonRun run;
    for (std::string piece = read_some(pipe.read_end.get()); !piece.empty();
         piece = read_some(pipe.read_end.get()))
        run.output += piece;
    run.status = child.wait().code;
    return run;
}

StartingDaemon::StartingDaemon(const std::vector<std::string>& flags, const std::string& systemd) {
    Pipe pipe;
    SpawnOptions options;
    options.arguments = {SVC_DAEMON_PROGRAM};
    options.arguments.insert(options.arguments.end(), flags.begin(), flags.end());
    if (!systemd.empty()) options.environment = {"NOTIFY_SOCKET=" + systemd};
    options.descriptors = {{pipe.write_end.get(), 1}, {pipe.write_end.get(), 2}};
    child_.emplace(options);
    output_ = std::move(pipe.read_end);
}

bool StartingDaemon::says(std::string_view text) {
    while (said_.find(text) == std::string::npos) {
        const std::string piece = read_some(output_.get());
        if (piece.empty()) return false;
        said_ += piece;
    }
    return true;
}

std::optional<ExitStatus> StartingDaemon::wait() {
    return child_->wait_for(patience);
}

DaemonProcess::DaemonProcess(const std::filesystem::path& directory, const std::vector<std::string>& settings)
    : socket_(directory / "svc.socket") {
    const auto config = directory / "svcd.yaml";
    const std::string text =
        "state_dir: " + (directory / "state").string() + "\nsocket: " + socket_.string() +
        "\nlisten: none\nhypervisor_listen: none\nruntime: simulated\nlog_level: error\n";
    const auto has = [all = join(settings, "")](const char* key) {
        return all.find(key) != std::string::npos;
    };
    const std::string rest = join(settings, "\n") +
                             (has("metrics_listen") ? "\n" : "\nmetrics_listen: none\n") +
                             (has("manager_name") ? "" : "node_name: node0\n");
    write_file_atomically(config, text + rest);
    Pipe pipe;
    SpawnOptions options;
    options.arguments = {SVC_DAEMON_PROGRAM, "--config", config.string()};
    options.descriptors = {{pipe.write_end.get(), 2}};
    child_.emplace(options);
    pipe.write_end.reset();
    errors_ = std::move(pipe.read_end);
    ready_line_ = read_until_ready();
}

std::string DaemonProcess::read_until_ready() {
    std::string text;
    for (;;) {
        const std::size_t begin = text.find("svcd: ready");
        const std::size_t end = begin == std::string::npos ? begin : text.find('\n', begin);
        if (end != std::string::npos) return text.substr(begin, end - begin);
        const std::string piece = read_some(errors_.get());
        if (piece.empty()) throw Error(ErrorCode::unavailable, "svcd did not start: " + text);
        text += piece;
    }
}

Target DaemonProcess::target() const {
    Target target;
    target.unix_path = socket_;
    return target;
}

void DaemonProcess::kill() {
    child_->kill(SIGKILL);
    child_->wait();
}

std::optional<ExitStatus> DaemonProcess::wait() {
    return child_->wait_for(patience);
}

}  // namespace svc::test

#include "libsvc/runtime/lxc/processes/exec_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/processes/helper_process.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds start_limit{15'000};
constexpr milliseconds end_limit{10'000};

// The kernel's 64 KiB let the command and who reads its output wait for each other after every write.
constexpr int output_pipe_bytes = 512 << 10;

struct Pipe {
    FileDescriptor read, write;
};

// Gives the pipe to the container's root, so that the command may open /dev/stdout and the like.
Pipe make_pipe(std::uint32_t owner) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
    if (::fchown(ends[0], owner, owner) != 0) throw system_error("cannot hand over a pipe", errno);
    return pipe;
}

// Best effort: the kernel gives a user who has many pipes no larger ones.
void enlarge(const Pipe& pipe) {
    ::fcntl(pipe.write.get(), F_SETPIPE_SZ, output_pipe_bytes);
}

void set_nonblocking(const FileDescriptor& fd) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// Passed in a memory file, as every user could read the helper's command line.
FileDescriptor describe_command(const ExecSpec& spec) {
    std::map<std::string, std::string> environment = {
        {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        {"LANG", "C.UTF-8"},
        {"HOME", "/root"},
        {"USER", "root"}};
    if (spec.terminal) environment["TERM"] = "xterm";
    for (const auto& [key, value] : spec.environment) environment[key] = value;
    std::string text = std::to_string(spec.command.size()) + '\0';
    for (const std::string& argument : spec.command) text += argument + '\0';
    for (const auto& [key, value] : environment) text += fmt::format("{}={}", key, value) + '\0';
    FileDescriptor file(::memfd_create("command", MFD_CLOEXEC));
    if (!file) throw system_error("cannot describe a command", errno);
    write_all(file.get(), text);
    return file;
}

void check_command(const ExecSpec& spec) {
    const auto has_zero = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    if (spec.command.empty() || spec.command.front().empty())
        throw Error(ErrorCode::invalid_argument, "command is empty");
    for (const std::string& argument : spec.command)
        if (has_zero(argument)) throw Error(ErrorCode::invalid_argument, "command has a zero byte");
    for (const auto& [key, value] : spec.environment)
        if (key.empty() || has_zero(key) || has_zero(value) || key.find('=') != std::string::npos)
            throw Error(ErrorCode::invalid_argument,
                        "environment has a name or value that cannot be passed on");
}

class LxcExec final : public ExecProcess {
  public:
    LxcExec(const ExecContext& context, const ExecSpec& spec) : killed_(context.killed) {
        const FileDescriptor command = describe_command(spec);
        std::vector<std::string> arguments = {"exec", context.containers.native(), context.id,
                                              std::to_string(context.root_id)};
        std::vector<std::pair<int, int>> descriptors = {{command.get(), command_fd}};
        std::array<Pipe, 3> pipes;
        if (spec.terminal) {
            arguments.push_back(
                fmt::format("{}x{}", spec.width == 0 ? 80 : spec.width, spec.height == 0 ? 24 : spec.height));
        } else {
            for (Pipe& pipe : pipes) pipe = make_pipe(context.root_id);
            enlarge(pipes[1]);
            descriptors.insert(
                descriptors.end(),
                {{pipes[0].read.get(), 0}, {pipes[1].write.get(), 1}, {pipes[2].write.get(), 2}});
        }
        helper_.emplace(context.helper, std::move(arguments), std::move(descriptors));
        input_ = std::move(pipes[0].write);
        output_ = std::move(pipes[1].read);
        errors_ = std::move(pipes[2].read);
        wait_for_start(context.id, spec.terminal);
        for (const FileDescriptor* fd : {&input_, &output_, &errors_})
            if (*fd) set_nonblocking(*fd);
    }

    ~LxcExec() override {
        LxcExec::kill(SIGKILL);
        helper_->close_socket();
        // The helper ends as soon as it has reaped the command; its destructor kills it if it has not ended.
        try {
            helper_->child().wait_for(end_limit);
        } catch (const Error&) {
            exit_code_ = 128 + SIGKILL;  // another thread reaped it
        }
        helper_.reset();
        reap(command_.get());  // a child of this process if the helper ended first
    }

    int input() const override { return terminal_ ? output_.get() : input_.get(); }
    int output() const override { return output_.get(); }
    int errors() const override { return errors_.get(); }
    void close_input() override { input_.reset(); }
    int ended() const override { return helper_->socket(); }
    bool exec_failed() const override { return exec_failed_; }

    int exit_code() override {
        if (exit_code_) return *exit_code_;
        const auto reply = helper_->receive(start_limit);
        // A helper that was killed cannot report the status of the command.
        if (!reply || reply->message.event != HelperEvent::ended)
            exit_code_ = 128 + SIGKILL;
        else
            exit_code_ = reply->message.gone != 0 ? 129 : reply->message.value;
        return *exit_code_;
    }

    void kill(int signal) override {
        if (signal > 0 && signal <= SIGRTMAX) send_signal(command_.get(), signal);
        if (signal == SIGKILL && command_ && killed_) killed_(command_.get());
    }

    void resize(unsigned width, unsigned height) override {
        if (!terminal_ || width == 0 || height == 0) return;
        const winsize size{static_cast<unsigned short>(height), static_cast<unsigned short>(width), 0, 0};
        ::ioctl(output_.get(), TIOCSWINSZ, &size);
    }

  private:
    void wait_for_start(const std::string& id, bool terminal) {
        auto reply = helper_->receive(start_limit);
        if (!reply)
            throw Error(ErrorCode::unavailable, fmt::format("command was not started in container '{}'", id));
        const HelperMessage& message = reply->message;
        if (message.event == HelperEvent::failed || reply->descriptors.size() != (terminal ? 2U : 1U))
            throw Error(ErrorCode::conflict,
                        fmt::format("container '{}': {}", id, static_cast<const char*>(message.text)));
        exec_failed_ = message.event == HelperEvent::command_failed;
        command_ = std::move(reply->descriptors[0]);
        if (!terminal) return;
        terminal_ = true;
        output_ = std::move(reply->descriptors[1]);
    }

    const std::function<void(int pidfd)> killed_;
    std::optional<HelperProcess> helper_;
    FileDescriptor input_, output_, errors_;
    FileDescriptor command_;  // pidfd
    bool terminal_ = false;
    bool exec_failed_ = false;
    std::optional<int> exit_code_;
};

}  // namespace

std::unique_ptr<ExecProcess> run_exec(const ExecContext& context, const ExecSpec& spec) {
    check_command(spec);
    return std::make_unique<LxcExec>(context, spec);
}

}  // namespace svc::lxc

#include "libsvc/runtime/lxd/exec.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/frames.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxd/instance.h"

namespace svc::lxd {

namespace {

using namespace std::chrono_literals;

constexpr int container_stopped = 129;
constexpr std::size_t block_bytes = 64U << 10;
constexpr Duration end_patience = 30s;

struct Ends {
    FileDescriptor ours, theirs;  // theirs: the caller's, which does not block
};

Ends make_ends() {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
        throw system_error("cannot make a stream", errno);
    ::fcntl(pair[1], F_SETFL, O_NONBLOCK);
    return {FileDescriptor(pair[0]), FileDescriptor(pair[1])};
}

// False when the reader has gone.
bool give(int fd, std::string_view data) {
    while (!data.empty()) {
        const ssize_t count = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        data.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// An empty text ends a stream of LXD.
void pump_out(WebSocketClient& socket, const std::function<void(std::string_view)>& take) {
    for (;;) {
        const auto message = socket.receive();
        if (!message || message->kind != WebSocketMessage::Kind::binary) break;
        take(message->data);
    }
    socket.close();
}

// What a caller does not take is dropped, so that the command can end.
std::function<void(std::string_view)> giver(int fd) {
    return [fd, read = true](std::string_view data) mutable { read = read && give(fd, data); };
}

// svc-agent runs the command: LXD's own terminals lose the last bytes, and LXD waits for every child that
// keeps a pipe.
ExecSpec relayed(const ExecSpec& spec) {
    if (spec.command.empty() || spec.command.front().empty())
        throw Error(ErrorCode::invalid_argument, "command is empty");
    ExecSpec relay = spec;
    relay.command = {"/" + std::string(lxc::agent_path), "relay"};
    if (spec.terminal) {
        relay.command.emplace_back("--terminal");
        relay.command.push_back(
            fmt::format("{}x{}", spec.width == 0 ? 80 : spec.width, spec.height == 0 ? 24 : spec.height));
        relay.environment.emplace("TERM", "xterm");
        relay.terminal = false;
    }
    relay.command.emplace_back("--");
    relay.command.insert(relay.command.end(), spec.command.begin(), spec.command.end());
    return relay;
}

class LxdExec final : public ExecProcess {
  public:
    LxdExec(Connection& lxd, std::string_view id, const ExecSpec& spec, ContainerLook look)
        : lxd_(lxd),
          look_(std::move(look)),
          terminal_(spec.terminal),
          ended_(::eventfd(0, EFD_CLOEXEC)),
          resized_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!ended_ || !resized_) throw system_error("cannot follow a command", errno);
        const Json operation =
            lxd_.begin(Method::post, instance_path(id) + "/exec", exec_request(relayed(spec), true));
        operation_ = text_of(operation, "id");
        // All at once, control first: a socket that comes after the end of a short command kills LXD 5.0.2.
        const Json& secrets = operation.at("metadata").at("fds");
        control_ = connect(secrets, "control");
        input_socket_ = connect(secrets, "0");
        output_socket_ = connect(secrets, "1");
        error_socket_ = connect(secrets, "2");
        input_ = make_ends();
        if (!terminal_) output_ = make_ends();
        if (!terminal_) errors_ = make_ends();
        reader_ = std::jthread([this] { pump_in(); });
        error_reader_ = std::jthread([this] { pump_errors(); });
        writer_ = std::jthread([this] { follow(); });
    }

    ~LxdExec() override {
        if (!done_) LxdExec::kill(SIGKILL);
        for (const Ends* ends : {&input_, &output_, &errors_})
            if (ends->ours) ::shutdown(ends->ours.get(), SHUT_RDWR);
        writer_.join();
        reader_.join();
    }

    int input() const override { return input_.theirs.get(); }
    int output() const override { return terminal_ ? input_.theirs.get() : output_.theirs.get(); }
    int errors() const override { return terminal_ ? -1 : errors_.theirs.get(); }
    void close_input() override {
        if (!terminal_) ::shutdown(input_.theirs.get(), SHUT_WR);
    }
    int ended() const override { return ended_.get(); }
    int exit_code() override {
        writer_done_.wait(false);
        return exit_code_;
    }
    bool exec_failed() const override { return exec_failed_; }

    void kill(int signal) override {
        tell(Json::object({{"command", "signal"}, {"signal", signal}}));
        if (signal == SIGKILL && look_.frozen()) abandon();
    }
    void resize(unsigned width, unsigned height) override {
        if (!terminal_ || width == 0 || height == 0) return;
        window_.with([&](std::string& size) { size = fmt::format("{}x{}", width, height); });
        ::eventfd_write(resized_.get(), 1);
    }

  private:
    std::unique_ptr<WebSocketClient> connect(const Json& secrets, const char* name) {
        return std::make_unique<WebSocketClient>(
            lxd_.target(),
            fmt::format("/1.0/operations/{}/websocket?secret={}", operation_, text_of(secrets, name)));
    }

    // The command ends when the container is thawed, by the signal or the end of its input; nobody waits.
    void abandon() {
        abandoned_ = true;
        for (const auto* socket : {&control_, &input_socket_, &output_socket_, &error_socket_})
            ::shutdown((*socket)->descriptor(), SHUT_RDWR);
    }

    void tell(const Json& command) {
        try {
            control_->send_text(command.dump());
        } catch (const Error&) {
            return;  // it has ended
        }
    }

    // The only thread that sends on this socket.
    void pump_in() {
        std::string block(block_bytes, '\0');
        std::array<pollfd, 2> polled{{{input_.ours.get(), POLLIN, 0}, {resized_.get(), POLLIN, 0}}};
        try {
            while (polled[0].fd >= 0 || !done_) {
                if (::poll(polled.data(), polled.size(), -1) < 0) continue;
                if (polled[1].revents != 0) send_window();
                if (polled[0].revents == 0) continue;
                const ssize_t count = ::recv(input_.ours.get(), block.data(), block.size(), 0);
                if (count < 0 && errno == EINTR) continue;
                if (count <= 0) polled[0].fd = -1;
                const auto size = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
                input_socket_->send_binary(frame_text(size == 0 ? Frame::Kind::end_input : Frame::Kind::data,
                                                      std::string_view(block).substr(0, size)));
            }
        } catch (const Error&) {
            return;  // the command has ended
        }
    }

    void send_window() {
        eventfd_t count = 0;
        ::eventfd_read(resized_.get(), &count);
        const std::string size = window_.with([](std::string& next) { return std::exchange(next, ""); });
        if (!size.empty()) input_socket_->send_binary(frame_text(Frame::Kind::window, size));
    }

    void pump_errors() {
        try {
            pump_out(*error_socket_, terminal_ ? [](std::string_view) {} : giver(errors_.ours.get()));
        } catch (const Error& e) {
            log::debug("a command's errors are lost", {{"error", e.what()}});
        }
        if (!terminal_) ::shutdown(errors_.ours.get(), SHUT_WR);
    }

    void take(const Frame& frame, const std::function<void(std::string_view)>& out) {
        if (frame.kind == Frame::Kind::data) return out(frame.data);
        told_code_ = static_cast<int>(std::strtol(frame.data.c_str(), nullptr, 10)) & 0xff;
        exec_failed_ = frame.kind == Frame::Kind::not_started;
    }

    // The thread that ends last: output, then errors, then the result.
    void follow() {
        const int out = terminal_ ? input_.ours.get() : output_.ours.get();
        try {
            const auto caller = giver(out);
            pump_out(*output_socket_, [&](std::string_view data) {
                frames_.feed(data);
                while (const auto frame = frames_.next()) take(*frame, caller);
            });
        } catch (const Error& e) {
            log::debug("a command's output is lost", {{"error", e.what()}});
        }
        ::shutdown(out, SHUT_WR);
        error_reader_.join();
        exit_code_ = result();
        done_ = true;
        ::shutdown(input_.ours.get(), SHUT_RD);
        ::eventfd_write(resized_.get(), 1);  // ends the thread of the input
        writer_done_ = true;
        writer_done_.notify_all();
        ::eventfd_write(ended_.get(), 1);
    }

    // LXD that died, or a container that stopped: nobody knows how the command ended.
    int result() {
        try {
            std::optional<Json> operation;
            while (!operation && !abandoned_) operation = lxd_.wait(operation_, end_patience);
            if (told_code_) return *told_code_;
            if (!operation) return 128 + SIGKILL;
            const int code = svc::lxd::exit_code_of(*operation);
            const bool killed = code == 128 + SIGKILL || code < 0;
            return killed && look_.stopped() ? container_stopped : code < 0 ? 128 + SIGKILL : code;
        } catch (const Error&) {
            return container_stopped;
        }
    }

    Connection& lxd_;
    const ContainerLook look_;
    const bool terminal_;
    std::string operation_;
    std::unique_ptr<WebSocketClient> control_, input_socket_, output_socket_, error_socket_;
    Ends input_, output_, errors_;
    FileDescriptor ended_, resized_;
    Guarded<std::string> window_;  // size that is to be sent
    FrameReader frames_;
    std::optional<int> told_code_;  // by svc-agent
    int exit_code_ = 0;
    std::atomic<bool> exec_failed_{false}, done_{false}, writer_done_{false}, abandoned_{false};
    std::jthread reader_, error_reader_, writer_;
};

}  // namespace

Json exec_request(const ExecSpec& spec, bool streams) {
    if (spec.command.empty() || spec.command.front().empty())
        throw Error(ErrorCode::invalid_argument, "command is empty");
    Json command = Json::array();
    for (const std::string& word : spec.command) command.push_back(word);
    Json environment = Json::object({{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                                     {"LANG", "C.UTF-8"},
                                     {"HOME", "/root"},
                                     {"USER", "root"}});
    for (const auto& [key, value] : spec.environment) environment.set(key, value);
    Json request = Json::object({{"command", std::move(command)},
                                 {"environment", std::move(environment)},
                                 {"wait-for-websocket", streams},
                                 {"interactive", false},
                                 {"record-output", false}});
    return request;
}

// Negative: LXD does not know.
int exit_code_of(const Json& operation) {
    const Json* metadata = operation.find("metadata");
    const Json* code = metadata == nullptr ? nullptr : metadata->find("return");
    return code != nullptr && code->is_integer() ? static_cast<int>(code->as_int()) : -1;
}

std::unique_ptr<ExecProcess> run_exec(Connection& lxd, std::string_view id, const ExecSpec& spec,
                                      ContainerLook look) {
    return std::make_unique<LxdExec>(lxd, id, spec, std::move(look));
}

}  // namespace svc::lxd

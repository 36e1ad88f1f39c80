#include "libsvc/services/exec/exec_session.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include "libsvc/base/digest.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/services/exec/exec_pump.h"

namespace svc {

namespace {

constexpr Duration connect_limit = std::chrono::seconds(10);
constexpr std::size_t max_input_bytes = std::size_t{1} << 20;  // more is left with the client
constexpr std::size_t low_input_bytes = max_input_bytes / 2;
constexpr int not_found_code = 127;
constexpr int max_signal = 64;

// The protocol sends sizes as text; numbers are taken too.
std::optional<unsigned> extent(const Json* value) {
    unsigned number = 0;
    if (value == nullptr) return std::nullopt;
    if (value->is_string()) {
        const std::string& text = value->as_string();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    } else if (value->is_integer() && value->as_int() > 0 && value->as_int() <= 65535) {
        number = static_cast<unsigned>(value->as_int());
    }
    return number > 0 && number <= 65535 ? std::optional(number) : std::nullopt;
}

void block_broken_pipe_signal() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

ExecSession::ExecSession(ExecSessionParts parts)
    : parts_(std::move(parts)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw system_error("making an event descriptor", errno);
    for (const auto& [name, secret] : parts_.secrets) sockets_[name].secret = secret;
}

ExecSession::~ExecSession() = default;

void ExecSession::run(std::shared_ptr<OperationCompletion> completion) {
    std::unique_lock lock(mutex_);
    if (end_) {
        lock.unlock();
        end_(*completion);
        return parts_.finished();
    }
    completion_ = std::move(completion);
    timeout_ = parts_.timer.after(connect_limit, [weak = weak_from_this()] {
        if (const auto session = weak.lock()) session->give_up("Timed out waiting for websockets to connect");
    });
    start_when_ready(std::move(lock));
}

void ExecSession::cancel() {
    {
        std::lock_guard lock(mutex_);
        cancelled_ = true;
        kill_locked();
        if (carrying_) return;
    }
    fail(Error(ErrorCode::cancelled, "Operation cancelled"));
}

// Before the command has started.
void ExecSession::give_up(const std::string& reason) {
    {
        std::lock_guard lock(mutex_);
        if (carrying_) return;
        cancelled_ = true;  // it does not start any more
    }
    fail(Error(ErrorCode::unavailable, reason));
}

std::shared_ptr<ExecStream> ExecSession::connect(std::string_view secret) {
    std::lock_guard lock(mutex_);
    for (auto& [name, socket] : sockets_) {
        if (!equal_constant_time(socket.secret, secret)) continue;
        if (socket.connected) throw Error(ErrorCode::invalid_argument, "a second connection not allowed");
        socket.connected = true;
        return std::make_shared<ExecStream>(shared_from_this(), name);
    }
    throw Error(ErrorCode::forbidden, "Not Authorized");
}

void ExecSession::attach(const std::string& stream, std::shared_ptr<ExecChannel> channel) {
    std::unique_lock lock(mutex_);
    if (finish_.used()) {
        lock.unlock();
        return channel->close();
    }
    Socket& socket = sockets_.at(stream);
    socket.channel = std::move(channel);
    socket.attached = true;
    start_when_ready(std::move(lock));
}

void ExecSession::start_when_ready(std::unique_lock<std::mutex> lock) {
    if (carrying_ || finish_.used() || cancelled_ || !completion_) return;
    const bool complete = std::ranges::all_of(
        sockets_, [](const auto& entry) { return entry.first == "control" || entry.second.attached; });
    if (!complete) return;
    parts_.timer.cancel(timeout_);
    try {
        thread_ = std::jthread([this] { carry(); });
        carrying_ = true;
    } catch (const std::system_error& e) {
        lock.unlock();
        give_up("no thread for the command: " + std::string(e.what()));
    }
}

// The thread of the command. It lets go of process and channels before it tells of the end: what holds a
// channel may hold the session, which must not be destroyed here.
void ExecSession::carry() {
    pthread_setname_np(pthread_self(), "exec");
    block_broken_pipe_signal();
    int exit_code = 0;
    bool ran = true;
    try {
        const auto process = parts_.runtime.exec(parts_.container, parts_.spec);
        exit_code = ExecPump(*this, *process).run();
        ran = !process->exec_failed();
    } catch (const Error& e) {
        return fail(e);
    } catch (const std::exception& e) {
        return fail(Error(ErrorCode::internal, e.what()));
    }
    complete(exit_code, ran);
}

void ExecSession::complete(int exit_code, bool ran) {
    const bool cancelled = [&] {
        std::lock_guard lock(mutex_);
        return cancelled_;
    }();
    if (cancelled) return fail(Error(ErrorCode::cancelled, "Operation cancelled"));
    if (!ran) {
        parts_.keep_code(exit_code);
        return fail(exit_code == not_found_code
                        ? Error(ErrorCode::not_found, "Command not found")
                        : Error(ErrorCode::invalid_argument, "Command not executable"));
    }
    finish_([exit_code](OperationCompletion& completion) {
        completion.succeed([exit_code] {
            OperationResult result;
            result.metadata = Json::object({{"return", exit_code}});
            return result;
        });
    });
}

void ExecSession::fail(const Error& error) {
    finish_([error](OperationCompletion& completion) { completion.fail(error); });
}

// End marks behind all output, then the control socket, then the operation: who sees it final has seen
// everything.
void ExecSession::conclude(const End& end) {
    std::map<std::string, std::shared_ptr<ExecChannel>> channels;
    std::shared_ptr<OperationCompletion> completion;
    {
        std::lock_guard lock(mutex_);
        for (auto& [name, socket] : sockets_)
            if (socket.channel) channels.emplace(name, std::move(socket.channel));
        completion = std::move(completion_);
        if (!completion) end_ = end;  // over before the engine came to it
    }
    for (const auto& [name, channel] : channels) {
        const bool is_output = name != "control" && (terminal() || name != "0");
        if (is_output) channel->send_end();
        channel->close();
    }
    channels.clear();
    if (!completion) return;
    end(*completion);
    parts_.finished();
}

void ExecSession::take_data(const std::string& stream, std::string bytes) {
    if (stream != "0" || bytes.empty()) return;
    std::shared_ptr<ExecChannel> full;
    {
        std::lock_guard lock(mutex_);
        if (finish_.used() || input_ended_) return;
        input_bytes_ += bytes.size();
        input_.push_back(std::move(bytes));
        if (input_bytes_ >= max_input_bytes && !input_paused_) full = sockets_["0"].channel;
        if (full) input_paused_ = true;
    }
    if (full) full->pause();
    wake();
}

void ExecSession::take_text(const std::string& stream, const std::string& message) {
    if (stream == "control") return take_control(message);
    if (stream != "0" || !message.empty()) return;
    {
        std::lock_guard lock(mutex_);
        input_ended_ = input_ended_ || !terminal();
    }
    wake();
}

void ExecSession::take_control(const std::string& message) {
    try {
        const Json order = Json::parse(message);
        const JsonFields fields(order);
        const auto command = fields.string("command").value_or("");
        std::lock_guard lock(mutex_);
        if (command == "signal") {
            const auto signal = fields.integer("signal").value_or(0);
            if (signal > 0 && signal <= max_signal) signals_.push_back(static_cast<int>(signal));
        } else if (command == "window-resize" && terminal()) {
            const Json* const args = fields.raw("args");
            const auto width = extent(args ? args->find("width") : nullptr);
            const auto height = extent(args ? args->find("height") : nullptr);
            if (width && height) size_ = std::pair(*width, *height);
        }
    } catch (const Error& e) {
        log::debug("control message of an exec ignored", {{"error", e.what()}});
    }
    wake();
}

void ExecSession::drained() {
    if (awaits_room_) wake();
}

// Nobody is left to read the output or to control the command; but the end of a plain input is only that.
// Many clients end it without a close frame; as long as no message was cut in two, all of it is there.
void ExecSession::closed(const std::string& stream, ExecEnd end) {
    std::shared_ptr<ExecChannel> gone;  // let go of without the lock
    {
        std::lock_guard lock(mutex_);
        gone = std::move(sockets_.at(stream).channel);
        if (finish_.used()) return;
        const bool ends_input = stream == "0" && !terminal();
        if (ends_input) input_ended_ = true;
        const bool harmless =
            ends_input ? end != ExecEnd::fault : end == ExecEnd::normal && stream == "control";
        if (!harmless) kill_locked();
        wake();
        if (harmless || carrying_) return;
    }
    give_up("connection lost before the command started");
}

void ExecSession::release(const std::string& stream) {
    std::lock_guard lock(mutex_);
    Socket& socket = sockets_.at(stream);
    if (!socket.attached) socket.connected = false;
}

ExecOrders ExecSession::take_orders(bool with_input) {
    ExecOrders orders;
    std::shared_ptr<ExecChannel> resumed;
    {
        std::lock_guard lock(mutex_);
        orders.signals.swap(signals_);
        std::swap(orders.size, size_);
        if (with_input && !input_.empty()) {
            orders.input = std::move(input_.front());
            input_.pop_front();
            input_bytes_ -= orders.input.size();
        }
        orders.end_input = input_ended_ && input_.empty();
        if (input_paused_ && input_bytes_ < low_input_bytes) {
            input_paused_ = false;
            resumed = sockets_["0"].channel;
        }
    }
    if (resumed) resumed->resume();
    return orders;
}

std::shared_ptr<ExecChannel> ExecSession::channel(const std::string& stream) const {
    std::lock_guard lock(mutex_);
    return sockets_.at(stream).channel;
}

void ExecSession::kill_locked() {
    signals_.push_back(SIGKILL);
    wake();
}

void ExecSession::wake() const {
    eventfd_write(wake_.get(), 1);
}

}  // namespace svc

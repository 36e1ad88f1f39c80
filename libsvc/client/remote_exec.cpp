#include "libsvc/client/remote_exec.h"

#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc {

struct RemoteExec::Stream {
    Stream(const Target& target, const std::string& path, int number)
        : socket(target, path), number(number) {}
    WebSocketClient socket;
    const int number;    // whose output arrives here: 1, 2; 0: nobody's
    std::mutex sending;  // control messages come from several threads
    bool ended = false;  // the end-of-stream mark or a normal close arrived
    std::exception_ptr failure;
};

RemoteExec::RemoteExec(ApiClient& client, std::string_view instance, const ExecRequest& request)
    : client_(client), interactive_(request.interactive) {
    const Json operation = client.exec(instance, request);
    operation_ = operation.at("id").as_string();
    const Json& secrets = operation.at("metadata").at("fds");
    const auto connect = [&](std::string_view name, int number) {
        const std::string path = "/1.0/operations/" + percent_encode(operation_) +
                                 "/websocket?secret=" + percent_encode(secrets.at(name).as_string());
        return std::make_unique<Stream>(client.target(), path, number);
    };
    // The command starts with the last data stream: control first, so that no signal meets a missing socket.
    control_ = connect("control", 0);
    input_ = connect("0", interactive_ ? 1 : 0);
    if (interactive_) return;
    output_ = connect("1", 1);
    errors_ = connect("2", 2);
}

RemoteExec::~RemoteExec() {
    abort();
}

void RemoteExec::abort() noexcept {
    for (const auto* stream : {&control_, &input_, &output_, &errors_})
        if (*stream) ::shutdown((*stream)->socket.descriptor(), SHUT_RDWR);
}

void RemoteExec::send_input(std::string_view data) {
    input_->socket.send_binary(data);
}

void RemoteExec::end_input() {
    try {
        input_->socket.send_text("");
        if (!interactive_) input_->socket.close();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;  // the command ended first
    }
}

void RemoteExec::send_control(const Json& message) {
    try {
        const std::lock_guard lock(control_->sending);
        control_->socket.send_text(message.dump());
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;  // the command ended first
    }
}

void RemoteExec::resize(unsigned width, unsigned height) {
    const Json size = Json::object({{"width", std::to_string(width)}, {"height", std::to_string(height)}});
    send_control(Json::object({{"command", "window-resize"}, {"args", size}, {"signal", 0}}));
}

void RemoteExec::send_signal(int number) {
    send_control(Json::object({{"command", "signal"}, {"args", nullptr}, {"signal", number}}));
}

// Only a thread that receives answers pings, so every socket needs such a thread.
void RemoteExec::receive(Stream& stream, const std::function<void(int, std::string_view)>& output) {
    using Kind = WebSocketMessage::Kind;
    try {
        while (const auto message = stream.socket.receive()) {
            if (message->kind == Kind::closed && message->close_code == 1000) stream.ended = true;
            if (message->kind == Kind::text && message->data.empty()) stream.ended = true;
            if (message->kind == Kind::closed || stream.ended) break;
            if (message->kind == Kind::binary && stream.number > 0) output(stream.number, message->data);
        }
    } catch (...) {
        stream.failure = std::current_exception();
    }
    // A broken stream ends the whole session, because its output may never arrive.
    if (stream.number > 0 && !stream.ended) abort();
}

RemoteExecResult RemoteExec::run(const std::function<void(int stream, std::string_view data)>& output) {
    std::vector<Stream*> speaking, silent;
    for (const auto* stream : {&control_, &input_, &output_, &errors_})
        if (*stream) ((*stream)->number > 0 ? speaking : silent).push_back(stream->get());

    std::vector<std::jthread> others, speakers;
    for (Stream* stream : silent) others.emplace_back([&, stream] { receive(*stream, output); });
    for (Stream* stream : speaking) speakers.emplace_back([&, stream] { receive(*stream, output); });
    speakers.clear();  // joins: all output has arrived
    const bool lost =
        std::any_of(speaking.begin(), speaking.end(), [](const Stream* s) { return !s->ended; });
    RemoteExecResult outcome;
    std::exception_ptr failure;
    for (const Stream* stream : speaking)
        if (stream->failure && !failure) failure = stream->failure;
    if (!lost) outcome = result();
    abort();
    others.clear();
    outcome.lost = outcome.lost || lost;
    if (failure) std::rethrow_exception(failure);
    return outcome;
}

RemoteExecResult RemoteExec::result() {
    RemoteExecResult outcome;
    try {
        Json record = client_.wait_operation(operation_, std::chrono::seconds(10));
        while (!operation_is_final(record))
            record = client_.wait_operation(operation_, std::chrono::seconds(10));
        const Json* metadata = record.find("metadata");
        const Json* status = metadata == nullptr ? nullptr : metadata->find("return");
        if (status != nullptr && status->is_number()) outcome.status = static_cast<int>(status->as_int());
        const Json* reason = record.find("err");
        if (reason != nullptr && reason->is_string()) outcome.error = reason->as_string();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        outcome.lost = true;
    }
    return outcome;
}

}  // namespace svc

#include "libsvc/net/websocket/websocket_client.h"

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/direct_call.h"
#include "libsvc/net/http/reply_head.h"
#include "libsvc/net/websocket/websocket_frames.h"

namespace svc {

namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto write_timeout = 60s;
constexpr auto silence_limit = 30s;  // the server pings every 10 s
constexpr std::size_t read_bytes = 128U << 10;
constexpr std::size_t max_message = 64U << 20;
constexpr std::uint16_t websocket_client_broken_code = 1006;

[[noreturn]] void throw_refusal(const ClientReply& reply) {
    std::string message = "websocket refused with HTTP status " + std::to_string(reply.status);
    try {
        const Json body = Json::parse(reply.body);
        if (const Json* error = body.find("error"); error != nullptr && error->is_string())
            message = error->as_string();
    } catch (const Error&) {
        // no JSON, no better message
    }
    throw Error(error_code_of_status(reply.status), message);
}

}  // namespace

class WebSocketClient::Connection {
  public:
    Connection(const Target& target, const std::string& path, const Headers& headers,
               std::chrono::milliseconds patience, const std::stop_token& stop)
        : channel_(target, patience, stop), reader_(true, max_message, [this](bool binary, std::string data) {
              keep(binary, std::move(data));
          }) {
        const std::stop_callback given_up(stop, [this] { channel_.interrupt(); });
        shake_hands(path, headers, patience);
    }
    ~Connection() {
        try {
            send_close(1000);
        } catch (const Error&) {
            // gone already
        }
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void send(net::FrameKind kind, std::string_view message) {
        std::string frame;
        net::append_frame(frame, kind, message, true);
        std::lock_guard lock(write_mutex_);
        if (close_sent_) throw Error(ErrorCode::unavailable, "websocket is closed");
        channel_.write(frame, write_timeout);
    }

    void send_close(std::uint16_t code) {
        std::string frame;
        net::append_close(frame, code, "", true);
        std::lock_guard lock(write_mutex_);
        if (std::exchange(close_sent_, true)) return;
        channel_.write(frame, 1s);
    }

    std::optional<WebSocketMessage> receive(std::optional<std::chrono::milliseconds> timeout) {
        const auto deadline = timeout ? Steady::now() + *timeout : Steady::time_point::max();
        while (messages_.empty() && !closed_)
            if (!read_some(Steady::now(), deadline)) return std::nullopt;
        if (!messages_.empty()) return pop();
        if (std::exchange(close_told_, true)) throw Error(ErrorCode::unavailable, "websocket is closed");
        return *closed_;
    }

    int descriptor() const { return channel_.descriptor(); }

  private:
    void keep(bool binary, std::string data) {
        WebSocketMessage message;
        message.kind = binary ? WebSocketMessage::Kind::binary : WebSocketMessage::Kind::text;
        message.data = std::move(data);
        messages_.push_back(std::move(message));
    }

    void shake_hands(const std::string& path, const Headers& headers, std::chrono::milliseconds patience) {
        const std::string key = base64_encode(random_bytes(16));
        ClientRequest request;
        request.path = path;
        request.timeout = patience;
        request.headers = headers;
        request.headers.set("Connection", "Upgrade");
        request.headers.set("Upgrade", "websocket");
        request.headers.set("Sec-WebSocket-Version", "13");
        request.headers.set("Sec-WebSocket-Key", key);
        net::InputBuffer in;
        const ClientReply reply = net::exchange(channel_, request, in);
        if (reply.status != 101) throw_refusal(reply);
        if (reply.headers.get("Sec-WebSocket-Accept") != net::websocket_accept(key))
            throw Error(ErrorCode::unavailable, "server does not speak websocket");
        take(in.view());
    }

    // Servers do not ping Unix sockets: the kernel reports there that a peer is gone.
    bool watches_silence() const { return channel_.target().unix_path.empty(); }

    // False on timeout.
    bool read_some(Steady::time_point now, Steady::time_point deadline) {
        const auto patience =
            std::chrono::ceil<std::chrono::milliseconds>(std::min<Steady::duration>(deadline - now, 5s));
        try {
            const auto count = channel_.read(buffer_.data(), buffer_.size(), std::max(patience, 0ms));
            if (!count) return notice_silence() || Steady::now() < deadline;
            if (*count == 0)
                break_off("connection ended");
            else
                take(std::string_view(buffer_.data(), *count));
        } catch (const Error& e) {
            break_off(e.what());
        }
        return true;
    }

    // Called when a read has found nothing. Time in which the caller did not read is no silence of the
    // server.
    bool notice_silence() {
        if (!watches_silence() || Steady::now() - last_heard_ <= silence_limit) return false;
        break_off("server is silent");
        return true;
    }

    void take(std::string_view data) {
        last_heard_ = Steady::now();
        reader_.feed(data);
        send_answers(reader_.take_answers());
        if (const auto& close = reader_.closed()) {
            WebSocketMessage message;
            message.kind = WebSocketMessage::Kind::closed;
            message.data = close->reason;
            message.close_code = close->code;
            closed_ = std::move(message);
        }
    }

    void send_answers(const std::string& answers) {
        if (answers.empty()) return;
        std::lock_guard lock(write_mutex_);
        if (close_sent_) return;
        if (reader_.closed()) close_sent_ = true;
        try {
            channel_.write(answers, write_timeout);
        } catch (const Error&) {
            // the next read tells
        }
    }

    void break_off(const std::string& why) {
        WebSocketMessage message;
        message.kind = WebSocketMessage::Kind::closed;
        message.data = why;
        message.close_code = websocket_client_broken_code;
        closed_ = std::move(message);
    }

    WebSocketMessage pop() {
        WebSocketMessage message = std::move(messages_.front());
        messages_.pop_front();
        return message;
    }

    net::ClientChannel channel_;
    net::FrameReader reader_;
    std::vector<char> buffer_ = std::vector<char>(read_bytes);
    std::deque<WebSocketMessage> messages_;
    std::optional<WebSocketMessage> closed_;
    bool close_told_ = false;
    Steady::time_point last_heard_ = Steady::now();
    std::mutex write_mutex_;
    bool close_sent_ = false;
};

WebSocketClient::WebSocketClient(const Target& target, const std::string& path, const Headers& headers,
                                 std::chrono::milliseconds patience, const std::stop_token& stop)
    : connection_(std::make_unique<Connection>(target, path, headers, patience, stop)) {}

WebSocketClient::~WebSocketClient() = default;

WebSocketClient::WebSocketClient(WebSocketClient&&) noexcept = default;

void WebSocketClient::send_text(std::string_view message) {
    connection_->send(net::FrameKind::text, message);
}

void WebSocketClient::send_binary(std::string_view message) {
    connection_->send(net::FrameKind::binary, message);
}

std::optional<WebSocketMessage> WebSocketClient::receive(std::optional<std::chrono::milliseconds> timeout) {
    return connection_->receive(timeout);
}

void WebSocketClient::close(std::uint16_t code) {
    connection_->send_close(code);
}

int WebSocketClient::descriptor() const {
    return connection_->descriptor();
}

}  // namespace svc

#include "server/http/exec_socket.h"

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc::server {

namespace {

ExecEnd end_of(std::uint16_t close_code) {
    constexpr std::uint16_t no_code = 1005, broken = 1006;  // a close frame without a code; no close frame
    if (close_code == static_cast<std::uint16_t>(CloseCode::normal) || close_code == no_code)
        return ExecEnd::normal;
    return close_code == broken ? ExecEnd::cut : ExecEnd::fault;
}

class SocketChannel final : public ExecChannel {
  public:
    explicit SocketChannel(std::shared_ptr<WebSocket> socket) : socket_(std::move(socket)) {}
    bool send(std::string data) override { return socket_->send_binary(std::move(data)); }
    bool send_end() override { return socket_->send_text(""); }
    std::size_t queued_bytes() const override { return socket_->queued_bytes(); }
    void pause() override { socket_->pause_reading(); }
    void resume() override { socket_->resume_reading(); }
    void close() override { socket_->close(CloseCode::normal, ""); }

  private:
    std::shared_ptr<WebSocket> socket_;
};

// Holds a stream that is reserved for a WebSocket. When the WebSocket never opens, the end of the handler
// releases the stream.
class ExecSocket final : public WebSocketHandler {
  public:
    explicit ExecSocket(std::shared_ptr<ExecStream> stream) : stream_(std::move(stream)) {}

    void on_open(std::shared_ptr<WebSocket> socket) override {
        stream_->attach(std::make_shared<SocketChannel>(std::move(socket)));
    }
    void on_message(bool binary, std::string message) override {
        if (binary)
            stream_->data(std::move(message));
        else
            stream_->text(message);
    }
    void on_sent() override { stream_->drained(); }
    void on_close(std::uint16_t code, std::string_view) override {
        stream_->closed(end_of(code));
        stream_.reset();
    }

  private:
    std::shared_ptr<ExecStream> stream_;
};

}  // namespace

Response exec_socket(ExecService& exec, const Request& request, std::string_view operation_id,
                     std::string_view secret) {
    if (!request.wants_websocket() && !secret.empty())
        throw Error(ErrorCode::invalid_argument, "websocket upgrade is required");
    Response response;
    response.websocket = std::make_shared<ExecSocket>(exec.connect(operation_id, secret));
    return response;
}

}  // namespace svc::server

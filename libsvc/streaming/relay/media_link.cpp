#include "libsvc/streaming/relay/media_link.h"

#include <utility>

#include "libsvc/base/error.h"

namespace svc {

class MediaLink::Side final : public WebSocketHandler {
  public:
    Side(std::shared_ptr<MediaLink> link, bool of_client) : link_(std::move(link)), of_client_(of_client) {}
    void on_open(std::shared_ptr<WebSocket> socket) override { link_->opened(of_client_, socket); }
    void on_message(bool binary, std::string message) override {
        link_->take(of_client_, binary, std::move(message));
    }
    void on_sent() override { link_->has_read(of_client_); }
    void on_close(std::uint16_t, std::string_view) override { link_->closed(of_client_); }

  private:
    const std::shared_ptr<MediaLink> link_;
    const bool of_client_;
};

MediaLink::MediaLink(const Clock& clock, MediaLimits limits, std::function<void(std::size_t)> relayed)
    : limits_(limits), relayed_(std::move(relayed)), until_(clock.steady_now() + limits.instance) {}

std::shared_ptr<WebSocketHandler> MediaLink::client() {
    return std::make_shared<Side>(shared_from_this(), true);
}

std::shared_ptr<WebSocketHandler> MediaLink::instance() {
    std::lock_guard lock(mutex_);
    if (over_ || std::exchange(claimed_, true)) throw Error(ErrorCode::forbidden, "the client has its media");
    return std::make_shared<Side>(shared_from_this(), false);
}

void MediaLink::opened(bool of_client, const Socket& socket) {
    std::lock_guard lock(mutex_);
    if (over_) return socket->close(CloseCode::normal, "the stream has ended");
    (of_client ? client_ : instance_) = socket;
    if (of_client || !client_) return;
    for (Message& message : std::exchange(waiting_, {})) pass(instance_, client_, std::move(message));
}

void MediaLink::take(bool of_client, bool binary, std::string bytes) {
    std::lock_guard lock(mutex_);
    if (over_) return;
    if (of_client && bytes.size() > limits_.client_message)
        return finish({"message is too big", end_code::refused});
    const Socket& to = of_client ? instance_ : client_;
    if (to) return pass(to, of_client ? client_ : instance_, {binary, std::move(bytes)});
    if (!of_client) return;
    waiting_bytes_ += bytes.size();
    if (waiting_.size() >= limits_.waiting_messages || waiting_bytes_ > limits_.waiting_bytes)
        return finish({"instance is not ready", end_code::not_ready});
    waiting_.push_back({binary, std::move(bytes)});
}

// What one side does not read, the other one does not get rid of.
void MediaLink::pass(const Socket& to, const Socket& from, Message message) {
    relayed_(message.bytes.size());
    message.binary ? to->send_binary(std::move(message.bytes)) : to->send_text(std::move(message.bytes));
    if (to->queued_bytes() > limits_.unread_bytes) from->pause_reading();
}

void MediaLink::has_read(bool of_client) {
    std::lock_guard lock(mutex_);
    if (const Socket& from = of_client ? instance_ : client_) from->resume_reading();
}

void MediaLink::closed(bool of_client) {
    std::lock_guard lock(mutex_);
    (of_client ? client_ : instance_).reset();
    finish({"the instance has closed the stream", end_code::stopped});
}

void MediaLink::end(const StreamEnd& end) {
    std::lock_guard lock(mutex_);
    finish(end);
}

void MediaLink::finish(const StreamEnd& end) {
    if (std::exchange(over_, true)) return;
    waiting_.clear();
    if (const Socket socket = std::exchange(client_, nullptr)) {
        socket->send_text(end.error().dump());
        socket->close(CloseCode::normal, end.message);
    }
    if (const Socket socket = std::exchange(instance_, nullptr))
        socket->close(CloseCode::normal, end.message);
}

bool MediaLink::is_over() const {
    std::lock_guard lock(mutex_);
    return over_;
}

void MediaLink::tick(SteadyTime now) {
    std::lock_guard lock(mutex_);
    if ((!claimed_ || !client_) && now >= until_) finish({"instance is not ready", end_code::not_ready});
}

}  // namespace svc

#include "libsvc/net/websocket/websocket.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "libsvc/base/fifo.h"
#include "libsvc/net/websocket/upgraded_session.h"
#include "libsvc/net/websocket/websocket_frames.h"

namespace svc {

namespace {

using namespace std::chrono_literals;
using net::FrameKind;
using Steady = std::chrono::steady_clock;

constexpr std::size_t output_batch = 64U << 10;  // small messages are sent together up to here
constexpr std::size_t max_answers = 16U << 10;   // one who pings without reading gets no more pongs
constexpr auto close_patience = 5s;
constexpr std::uint16_t websocket_broken_code = 1006;

// One WebSocket connection of a server: a WebSocket for any thread, an UpgradedSession for the I/O thread.
class WebSocketSession final : public WebSocket,
                               public net::UpgradedSession,
                               public std::enable_shared_from_this<WebSocketSession> {
  public:
    WebSocketSession(std::shared_ptr<WebSocketHandler> handler, net::UpgradedSettings settings)
        : handler_(std::move(handler)), settings_(std::move(settings)), last_heard_(Steady::now()) {
        next_ping_ = last_heard_ + std::chrono::seconds(settings_.limits.ping_seconds);
    }

    bool send_text(std::string message) override {
        return enqueue(FrameKind::text, std::make_shared<const std::string>(std::move(message)));
    }
    bool send_binary(std::string message) override {
        return enqueue(FrameKind::binary, std::make_shared<const std::string>(std::move(message)));
    }
    bool send_shared_text(const std::shared_ptr<const std::string>& message) override {
        return enqueue(FrameKind::text, message);
    }
    void ask_for_turn() override {
        if (!turn_asked_ && !turn_asked_.exchange(true)) settings_.wake_in_batch();
    }
    std::size_t queued_bytes() const override;
    void close(CloseCode code, std::string_view reason) override;
    void abort() override;
    void pause_reading() override { paused_ = true; }
    void resume_reading() override;

    void open() override { handler_->on_open(shared_from_this()); }
    void take_turn() override;
    Phase phase() override;
    bool wants_input() const override { return !paused_ || closing_; }
    void input(std::string_view data) override;
    std::string_view output() override;
    void output_sent(std::size_t bytes) override;
    void output_lost() override;
    Instant next_tick() const override;
    void tick(Instant now) override;
    void lost() override;
    void end(CloseCode code, std::string_view reason) override { close(code, reason); }

  private:
    struct Message {
        FrameKind kind{};
        std::shared_ptr<const std::string> data;
    };
    // What other threads touch, too.
    struct Outbox {
        Fifo<Message> queue;
        std::size_t bytes = 0;  // in `queue`
        bool refusing = false;  // close asked for, or gone
        bool lost = false;      // nobody takes it
        bool close_wanted = false;
        bool aborted = false;
        CloseCode code = CloseCode::normal;
        std::string reason;
    };

    bool enqueue(FrameKind kind, std::shared_ptr<const std::string> message);
    void deliver(bool binary, std::string message);
    std::unique_ptr<net::FrameReader> make_reader();
    void note_close(const net::FrameReader::Close& close);
    void refill();
    void begin_close();
    void drop_outbox();
    void finish(std::uint16_t code, std::string_view reason);

    std::shared_ptr<WebSocketHandler> handler_;
    const net::UpgradedSettings settings_;
    std::atomic<bool> paused_{false};
    std::atomic<bool> turn_asked_{false};
    std::atomic<std::size_t> unsent_{0};  // in output_
    mutable std::mutex mutex_;
    Outbox outbox_;

    // The I/O thread alone touches the members below.
    std::unique_ptr<net::FrameReader> reader_;  // none while idle
    std::string answers_;                       // control frames, which go before messages
    std::string output_;
    std::size_t output_begin_ = 0;
    bool had_output_ = false;
    bool closing_ = false;   // our close frame is on its way
    bool ended_ = false;     // nothing more is to be said
    bool finished_ = false;  // on_close() was called
    bool silent_ = false;    // the peer answered no ping
    Instant last_heard_;
    Instant next_ping_;
    Instant close_deadline_ = Instant::max();
};

bool WebSocketSession::enqueue(FrameKind kind, std::shared_ptr<const std::string> message) {
    bool first = false;
    {
        std::lock_guard lock(mutex_);
        if (outbox_.refusing || outbox_.lost) return false;
        first = outbox_.queue.empty();
        outbox_.bytes += message->size();
        outbox_.queue.push(Message{kind, std::move(message)});
    }
    if (first) settings_.wake();
    return true;
}

std::size_t WebSocketSession::queued_bytes() const {
    std::lock_guard lock(mutex_);
    return outbox_.bytes + unsent_;
}

void WebSocketSession::close(CloseCode code, std::string_view reason) {
    {
        std::lock_guard lock(mutex_);
        if (outbox_.refusing) return;
        outbox_.refusing = outbox_.close_wanted = true;
        outbox_.code = code;
        outbox_.reason = std::string(reason);
    }
    settings_.wake();
}

void WebSocketSession::abort() {
    {
        std::lock_guard lock(mutex_);
        if (outbox_.aborted) return;
        outbox_.refusing = outbox_.aborted = true;
        outbox_.queue.clear();
        outbox_.bytes = 0;
    }
    settings_.wake();
}

void WebSocketSession::resume_reading() {
    if (paused_.exchange(false)) settings_.wake();
}

void WebSocketSession::take_turn() {
    if (turn_asked_.exchange(false) && !finished_) handler_->on_sent();
}

net::UpgradedSession::Phase WebSocketSession::phase() {
    bool aborted = false;
    {
        std::lock_guard lock(mutex_);
        aborted = outbox_.aborted;
        if (outbox_.close_wanted && close_deadline_ == Instant::max())
            close_deadline_ = Steady::now() + close_patience;
    }
    if (aborted) return Phase::broken;
    return ended_ ? Phase::ended : Phase::open;
}

void WebSocketSession::deliver(bool binary, std::string message) {
    if (!closing_) handler_->on_message(binary, std::move(message));
}

std::unique_ptr<net::FrameReader> WebSocketSession::make_reader() {
    return std::make_unique<net::FrameReader>(
        false, settings_.limits.max_message,
        [this](bool binary, std::string message) { deliver(binary, std::move(message)); });
}

void WebSocketSession::input(std::string_view data) {
    if (ended_) return;
    last_heard_ = Steady::now();
    if (!reader_) reader_ = make_reader();
    reader_->feed(data);
    if (reader_->closed()) return note_close(*reader_->closed());
    const std::string answers = reader_->take_answers();
    if (!closing_ && answers_.size() < max_answers) answers_ += answers;
    if (reader_->is_idle()) reader_.reset();
}

// The peer has sent its close frame, or has broken the protocol.
void WebSocketSession::note_close(const net::FrameReader::Close& close) {
    drop_outbox();
    if (!closing_) answers_ += reader_->take_answers();
    closing_ = ended_ = true;
    close_deadline_ = std::min(close_deadline_, Steady::now() + close_patience);
    finish(close.code, close.reason);
    reader_.reset();
}

void WebSocketSession::drop_outbox() {
    std::lock_guard lock(mutex_);
    outbox_.refusing = true;
    outbox_.close_wanted = false;
    outbox_.queue.clear();
    outbox_.bytes = 0;
}

std::string_view WebSocketSession::output() {
    if (output_begin_ == output_.size()) refill();
    return std::string_view(output_).substr(output_begin_);
}

void WebSocketSession::refill() {
    output_.clear();
    output_begin_ = 0;
    output_.swap(answers_);
    std::size_t messages = 0;
    {
        std::lock_guard lock(mutex_);
        while (!outbox_.queue.empty() && output_.size() < output_batch) {
            const Message message = outbox_.queue.pop();
            outbox_.bytes -= message.data->size();
            net::append_frame(output_, message.kind, *message.data, false);
            ++messages;
        }
        unsent_ = output_.size();
        if (outbox_.close_wanted && outbox_.queue.empty() && !closing_) begin_close();
    }
    had_output_ = had_output_ || messages > 0;
    if (output_.empty()) std::string().swap(output_);
}

// Called with the lock held.
void WebSocketSession::begin_close() {
    closing_ = true;
    net::append_close(output_, static_cast<std::uint16_t>(outbox_.code), outbox_.reason, false);
}

void WebSocketSession::output_sent(std::size_t bytes) {
    output_begin_ += bytes;
    unsent_ = output_.size() - output_begin_;
    if (unsent_ > 0 || !had_output_) return;
    refill();
    if (!output_.empty()) return;
    had_output_ = false;
    if (!finished_) handler_->on_sent();
}

// on_sent() is called although nothing was sent: a handler that waits for it sends its next message, and is
// told false.
void WebSocketSession::output_lost() {
    {
        std::lock_guard lock(mutex_);
        outbox_.lost = true;
        outbox_.queue.clear();
        outbox_.bytes = 0;
    }
    output_.clear();
    output_begin_ = 0;
    unsent_ = 0;
    if (!finished_) handler_->on_sent();
}

net::UpgradedSession::Instant WebSocketSession::next_tick() const {
    return settings_.pings ? std::min(next_ping_, close_deadline_) : close_deadline_;
}

void WebSocketSession::tick(Instant now) {
    if (now >= close_deadline_) return abort();
    if (!settings_.pings || now < next_ping_) return;
    const std::chrono::seconds between(settings_.limits.ping_seconds);
    const bool late = now - next_ping_ > between;  // the machine stood still, or this thread did
    next_ping_ = now + between;
    if (paused_ || late) last_heard_ = now;  // its pongs lie unread
    silent_ = now - last_heard_ > std::chrono::seconds(settings_.limits.dead_seconds);
    if (silent_) return abort();
    if (!closing_ && answers_.empty()) net::append_frame(answers_, FrameKind::ping, "", false);
}

// There is a reader while a message has begun and not ended.
void WebSocketSession::lost() {
    const bool at_fault = silent_ || reader_;
    finish(at_fault ? static_cast<std::uint16_t>(CloseCode::protocol_error) : websocket_broken_code,
           "connection broke");
}

void WebSocketSession::finish(std::uint16_t code, std::string_view reason) {
    if (std::exchange(finished_, true)) return;
    drop_outbox();
    const auto handler = std::exchange(handler_, nullptr);
    handler->on_close(code, reason);
}

}  // namespace

std::shared_ptr<net::UpgradedSession> WebSocketHandler::make_session(std::shared_ptr<WebSocketHandler> self,
                                                                     net::UpgradedSettings settings) {
    return std::make_shared<WebSocketSession>(std::move(self), std::move(settings));
}

}  // namespace svc

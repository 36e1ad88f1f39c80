#include "libsvc/net/server/upgraded_connection.h"

#include <boost/asio/post.hpp>

#include "libsvc/base/log.h"
#include "libsvc/net/server/wake_batch.h"

namespace svc::net {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;

namespace {

// Of one pump(), so that a busy connection does not hold up the others of its thread.
constexpr std::size_t pump_write_bytes = 1U << 20;
constexpr int pump_reads = 4;
constexpr std::size_t linger_bytes = 1U << 20;
constexpr std::chrono::seconds linger_time{1};

}  // namespace

UpgradedConnection::UpgradedConnection(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)) {
    ++connection_->share().websockets;
}

UpgradedConnection::~UpgradedConnection() {
    --connection_->share().websockets;
}

void UpgradedConnection::start(std::shared_ptr<Connection> connection,
                               const std::shared_ptr<WebSocketHandler>& handler, std::string early) {
    auto self = std::make_shared<UpgradedConnection>(std::move(connection));
    self->session_ = handler->make_session(handler, self->settings());
    self->self_ = self;
    const std::weak_ptr<UpgradedConnection> weak = self;
    const auto end = [weak](CloseCode code, std::string_view reason) {
        const auto target = weak.lock();
        if (target && target->self_) target->session_->end(code, reason);
    };
    const auto abort = [weak] {
        if (const auto target = weak.lock()) target->lose();
    };
    self->connection_->hand_over(end, abort);
    self->guard([&] {
        self->session_->open();
        if (!early.empty()) self->session_->input(early);
        if (self->connection_->ending()) self->session_->end(CloseCode::going_away, "connection is ended");
    });
    self->pump();
}

// A handler that throws ends its connection and not the thread.
template <class Work>
void UpgradedConnection::guard(Work&& work) {
    try {
        work();
    } catch (const std::exception& e) {
        log::error("websocket handler failed", {{"error", e.what()}});
        lose();
    }
}

// The two functions hold the loop and not this object: a WebSocket may outlive its connection and the server.
UpgradedSettings UpgradedConnection::settings() {
    UpgradedSettings settings;
    settings.limits = connection_->share().limits.websocket;
    settings.pings = connection_->peer()->transport != Transport::unix_socket;
    settings.wake = [loop = connection_->shared_loop(), weak = weak_from_this()] {
        if (loop->context.get_executor().running_in_this_thread()) {
            const auto self = weak.lock();
            if (!self || self->in_turn_) return;
        }
        asio::post(loop->context, [weak] {
            if (const auto self = weak.lock()) self->pump();
        });
    };
    settings.wake_in_batch = [loop = connection_->shared_loop(), weak = weak_from_this()] {
        wake_in_batch(*loop, weak);
    };
    return settings;
}

void UpgradedConnection::pump() {
    if (!self_) return;
    const auto keep = self_;
    guard([this] {
        take_turn();
        write();
        if (self_) read();
        if (self_) write();
        if (self_) settle();
    });
}

void UpgradedConnection::take_turn() {
    in_turn_ = true;
    session_->take_turn();
    in_turn_ = false;
}

void UpgradedConnection::settle() {
    const auto phase = session_->phase();
    if (phase == UpgradedSession::Phase::broken) return lose();
    if (phase == UpgradedSession::Phase::ended && !lingering_ && session_->output().empty())
        start_lingering();
    if (self_) arm_timer();
}

void UpgradedConnection::write() {
    if (wait_write_ || lingering_ || deaf_) return;
    for (std::size_t sent = 0; sent < pump_write_bytes;) {
        const auto data = session_->output();
        if (data.empty()) return;
        const IoResult result = connection_->stream().write(data.data(), data.size());
        deaf_ = result.state == IoState::ended || result.state == IoState::failed;
        if (deaf_) return session_->output_lost();
        if (result.state != IoState::done) return wait_for(result.state, wait_write_);
        sent += result.bytes;
        session_->output_sent(result.bytes);
    }
    pump_soon();
}

void UpgradedConnection::read() {
    auto& scratch = connection_->loop().scratch;
    for (int i = 0; i < pump_reads; ++i) {
        if ((wait_read_ && !deaf_) || !(lingering_ || session_->wants_input())) return;
        const IoResult result = connection_->stream().read(scratch.data(), scratch.size());
        if (result.state == IoState::ended || result.state == IoState::failed) return lose();
        if (deaf_ && result.state != IoState::done) return lose();
        if (result.state != IoState::done) return wait_for(result.state, wait_read_);
        take_input(result.bytes);
        if (!self_) return;
    }
    pump_soon();
}

void UpgradedConnection::take_input(std::size_t bytes) {
    if (!lingering_) return session_->input(std::string_view(connection_->loop().scratch.data(), bytes));
    discarded_ += bytes;
    if (discarded_ > linger_bytes) finish();
}

void UpgradedConnection::wait_for(IoState direction, bool& waiting) {
    waiting = true;
    const auto what = direction == IoState::want_write ? asio::posix::stream_descriptor::wait_write
                                                       : asio::posix::stream_descriptor::wait_read;
    connection_->descriptor().async_wait(
        what, [self = shared_from_this(), &waiting](const boost::system::error_code& error) {
            waiting = false;
            if (!error) self->pump();
        });
}

void UpgradedConnection::pump_soon() {
    asio::post(connection_->loop().context, [self = shared_from_this()] { self->pump(); });
}

void UpgradedConnection::arm_timer() {
    const auto next = lingering_ ? linger_until_ : session_->next_tick();
    auto& timer = connection_->timer();
    if (next == Connection::Instant::max() || (timer_armed_ && timer.expiry() <= next)) return;
    timer_armed_ = true;
    timer.expires_at(next);
    timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->on_timer();
    });
}

void UpgradedConnection::on_timer() {
    timer_armed_ = false;
    if (!self_) return;
    const auto now = Steady::now();
    if (lingering_ && now >= linger_until_) return finish();
    if (!lingering_ && now >= session_->next_tick()) session_->tick(now);
    pump();
}

// Closing with unread input would make the kernel drop the close frame that we have sent.
void UpgradedConnection::start_lingering() {
    lingering_ = true;
    linger_until_ = Steady::now() + linger_time;
    connection_->stream().shut_down();
    read();
}

void UpgradedConnection::lose() {
    if (!self_) return;
    const auto keep = self_;
    finish();
    session_->lost();
}

void UpgradedConnection::finish() {
    const auto keep = std::exchange(self_, nullptr);
    connection_->close();
}

}  // namespace svc::net

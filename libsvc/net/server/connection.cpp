#include "libsvc/net/server/connection.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace svc::net {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t linger_bytes = 1U << 20;
constexpr auto linger_time = 1s;

using Event = asio::posix::stream_descriptor::wait_type;

Event event_of(IoState state) {
    return state == IoState::want_write ? Event::wait_write : Event::wait_read;
}

}  // namespace

Connection::Connection(std::shared_ptr<IoLoop> loop, std::shared_ptr<ServerShare> share,
                       std::unique_ptr<ConnectionSlot> slot, FileDescriptor socket,
                       std::shared_ptr<const Peer> peer, const TlsContext* tls)
    : loop_(std::move(loop)),
      share_(std::move(share)),
      slot_(std::move(slot)),
      peer_(std::move(peer)),
      id_(share_->next_id++),
      descriptor_(loop_->context),
      timer_(loop_->context),
      reply_deadline_(share_->limits.write_idle_time, share_->limits.min_rate) {
    const int fd = socket.get();
    stream_ = tls != nullptr ? std::make_unique<ByteStream>(fd, *tls) : std::make_unique<ByteStream>(fd);
    descriptor_.assign(fd);
    (void)socket.release();
    loop_->connections.emplace(id_, this);
    loop_->peers.with([this](auto& peers) { peers.emplace(id_, peer_); });
}

Connection::~Connection() {
    loop_->connections.erase(id_);
    loop_->peers.with([this](auto& peers) { peers.erase(id_); });
    close();
}

void Connection::close() {
    boost::system::error_code ignored;
    timer_.cancel(ignored);
    descriptor_.close(ignored);
}

void Connection::end(CloseCode code, std::string_view reason, bool impatient) {
    if (session_end_) return session_end_(code, reason);
    ending_ = true;
    if (activity_ == Activity::idle || (impatient && activity_ != Activity::answering)) close();
}

void Connection::abort() {
    if (session_abort_) return session_abort_();
    ending_ = true;
    close();
}

void Connection::interrupt() {
    interrupted_ = true;
    boost::system::error_code ignored;
    if (!closed()) descriptor_.cancel(ignored);
}

void Connection::hand_over(std::function<void(CloseCode, std::string_view)> end,
                           std::function<void()> abort) {
    session_end_ = std::move(end);
    session_abort_ = std::move(abort);
}

// The timer is set again only when it would expire too late. When it expires too early, it reads the deadline
// again.
void Connection::set_deadline(Instant deadline) {
    deadline_ = deadline;
    if (deadline_ != Instant::max() && (!timer_armed_ || deadline_ < timer_.expiry())) arm_timer();
}

void Connection::arm_timer() {
    timer_armed_ = true;
    timer_.expires_at(deadline_);
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
        const auto self = error ? nullptr : weak.lock();
        if (self) self->on_timer();
    });
}

void Connection::on_timer() {
    timer_armed_ = false;
    if (deadline_ == Instant::max() || closed()) return;
    if (std::chrono::steady_clock::now() < deadline_) return arm_timer();
    timed_out_ = true;
    boost::system::error_code ignored;
    descriptor_.cancel(ignored);
}

Connection::Task<bool> Connection::wait(Event event, Instant deadline) {
    if (closed() || interrupted_) co_return false;
    timed_out_ = false;
    set_deadline(deadline);
    boost::system::error_code error;
    co_await descriptor_.async_wait(event, asio::redirect_error(asio::use_awaitable, error));
    deadline_ = Instant::max();
    co_return !error && !timed_out_ && !interrupted_ && !closed();
}

// Whether the stream still lives after a read or write that is not done.
bool Connection::goes_on(IoState state) {
    if (state == IoState::ended) half_closed_ = true;
    return state != IoState::ended && state != IoState::failed;
}

// A Unix socket reports when both directions are closed. A TLS client sends close_notify before it closes its
// direction of TCP, so the socket becomes readable when the client is gone. On plain TCP a client that is
// gone looks like a client that waits: both get the time of an idle connection.
Connection::Task<void> Connection::await_loss() {
    if (stream_->is_tls()) {
        co_await wait(Event::wait_read, Instant::max());
    } else if (peer_->transport == Transport::unix_socket) {
        co_await wait(Event::wait_error, Instant::max());
    } else {
        co_await wait(Event::wait_error, std::chrono::steady_clock::now() + share_->limits.keep_alive_time);
    }
}

Connection::Task<void> Connection::await_interrupt() {
    co_await wait(Event::wait_error, Instant::max());
}

Connection::Task<void> Connection::sleep(Milliseconds duration) {
    asio::steady_timer timer(loop_->context, duration);
    boost::system::error_code error;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
}

Connection::Task<bool> Connection::handshake(Instant deadline) {
    if (!stream_->is_tls()) co_return true;
    for (;;) {
        const IoResult result = stream_->handshake();
        if (result.state == IoState::done) break;
        if (!goes_on(result.state) || !co_await wait(event_of(result.state), deadline)) co_return false;
    }
    note_certificate();
    co_return true;
}

void Connection::note_certificate() {
    auto certificate = stream_->peer_certificate();
    if (!certificate) return;
    auto peer = std::make_shared<Peer>(*peer_);
    peer->certificate = std::move(certificate);
    peer_ = std::move(peer);
    loop_->peers.with([this](auto& peers) { peers[id_] = peer_; });
}

Connection::Task<std::size_t> Connection::receive_into(char* out, std::size_t room, Instant deadline) {
    while (!closed()) {
        const IoResult result = stream_->read(out, room);
        if (result.state == IoState::done) co_return result.bytes;
        if (!goes_on(result.state) || !co_await wait(event_of(result.state), deadline)) break;
    }
    co_return 0;
}

// All connections of a thread share the scratch memory: between filling and emptying it nothing else runs.
Connection::Task<bool> Connection::receive(InputBuffer& in, Instant deadline) {
    while (!closed()) {
        const IoResult result = stream_->read(loop_->scratch.data(), loop_->scratch.size());
        if (result.state == IoState::done) {
            in.append(loop_->scratch.data(), result.bytes);
            co_return true;
        }
        if (!goes_on(result.state) || !co_await wait(event_of(result.state), deadline)) break;
    }
    co_return false;
}

Connection::Task<bool> Connection::send(std::string_view data, bool more_follows) {
    while (!data.empty()) {
        if (closed()) co_return false;
        const IoResult result = stream_->write(data.data(), data.size(), more_follows);
        if (result.state == IoState::done) {
            data.remove_prefix(result.bytes);
            reply_deadline_.moved(result.bytes);
            continue;
        }
        if (!goes_on(result.state)) co_return false;
        const auto begin = std::chrono::steady_clock::now();
        const auto deadline = reply_deadline_.deadline(begin);
        if (!co_await wait(event_of(result.state), deadline)) co_return false;
        reply_deadline_.waited(std::chrono::steady_clock::now() - begin);
    }
    co_return true;
}

Connection::Task<void> Connection::linger() {
    if (closed()) co_return;
    stream_->shut_down();
    const auto deadline = std::chrono::steady_clock::now() + linger_time;
    std::size_t discarded = 0;
    while (discarded < linger_bytes) {
        InputBuffer in;
        if (!co_await receive(in, deadline)) break;
        discarded += in.view().size();
    }
    close();
}

}  // namespace svc::net

#include "libsvc/net/server/http_session.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/server/body_receiver.h"
#include "libsvc/net/server/pool_task.h"
#include "libsvc/net/server/reply_sender.h"
#include "libsvc/net/server/upgraded_connection.h"

namespace svc::net {

namespace asio = boost::asio;
using Activity = Connection::Activity;
using Steady = std::chrono::steady_clock;

namespace {

constexpr unsigned requests_between_pauses = 64;
constexpr std::size_t pipelined_bytes = 256U << 10;  // taken in behind a request that waits
constexpr std::chrono::milliseconds full_server_pause{20};

}  // namespace

HttpSession::Task<void> HttpSession::serve(std::shared_ptr<Connection> connection,
                                           std::shared_ptr<const Listener> listener) {
    const auto deadline = Steady::now() + connection->share().limits.header_time;
    connection->slot().on_evict([loop = connection->shared_loop(), weak = connection->weak_from_this()] {
        asio::post(loop->context, [weak] {
            if (const auto target = weak.lock()) target->abort();
        });
    });
    if (!co_await connection->handshake(deadline)) co_return;
    if (listener->tls && listener->limits.standing)
        connection->slot().raise(listener->limits.standing(*connection->peer()));
    HttpSession session(connection, deadline);
    try {
        bool more = true;
        while (more) more = co_await session.exchange();
    } catch (const std::exception& e) {
        log::debug("connection failed", {{"error", e.what()}});
    }
}

// False: the connection ends without another request.
HttpSession::Task<bool> HttpSession::await_request() {
    connection_->set_activity(Activity::idle);
    if (connection_->ending() || share().stopping) co_return false;
    // Pipelined requests must not starve the other connections of this thread.
    if (++served_ % requests_between_pauses == 0)
        co_await asio::post(connection_->loop().context, asio::use_awaitable);
    const auto& limits = share().limits;
    const bool first = served_ == 1;
    if (in_.empty()) {
        connection_->slot().charge(0);
        const auto deadline = first ? header_deadline_ : Steady::now() + limits.keep_alive_time;
        const bool any = co_await connection_->receive(in_, deadline);
        if (!any) co_return false;
    }
    if (!first) header_deadline_ = Steady::now() + limits.header_time;
    co_return true;
}

HttpSession::Task<bool> HttpSession::exchange() {
    const bool any = co_await await_request();
    if (!any) co_return false;
    Exchange x(share().limits);
    if (!co_await receive_header(x)) co_return false;
    connection_->set_activity(Activity::receiving);
    if (!x.fault) {
        BodyReceiver receiver(*connection_, in_, x);
        co_await receiver.receive();
    }
    if (x.broken) {
        finish(x, 0);
        co_return false;
    }
    connection_->set_activity(Activity::answering);
    if (!x.fault) co_await await_room_for_reply(x);
    if (!x.fault) co_await run_handler(x);
    if (x.broken) {
        finish(x, 0);
        co_return false;
    }
    co_return co_await answer(x);
}

// True when the connection can take another request.
HttpSession::Task<bool> HttpSession::answer(Exchange& x) {
    ReplySender sender(*connection_, x);
    sender.settle();
    if (x.response.later) co_await await_fault_reply(x);
    if (x.broken) {
        finish(x, 0);
        co_return false;
    }
    sender.prepare(connection_->half_closed() && in_.empty());
    const bool sent = co_await sender.send();
    finish(x, x.response.status);
    if (sent && x.upgrade) {
        UpgradedConnection::start(connection_, x.response.websocket, in_.take());
        co_return false;
    }
    if (sent && x.keep && !connection_->ending()) co_return true;
    if (sent) co_await connection_->linger();
    connection_->close();
    co_return false;
}

HttpSession::Task<bool> HttpSession::receive_header(Exchange& x) {
    const auto deadline = header_deadline_;
    while (!parse_header(x)) {
        const bool more = co_await connection_->receive(in_, deadline);
        if (!more) co_return false;
        if (!connection_->slot().charge(in_.view().size())) x.fail_for_memory();
        if (x.fault) break;
    }
    if (!x.fault) plan(x);
    co_return true;
}

// True when the header is complete, or malformed (x.fault).
bool HttpSession::parse_header(Exchange& x) {
    try {
        if (!x.parser.take_header(in_)) return false;
        x.request = x.parser.request();
    } catch (const std::exception&) {
        x.fault = std::current_exception();
    }
    return true;
}

void HttpSession::plan(Exchange& x) {
    x.request.peer = connection_->peer();
    x.planned = true;
    try {
        x.plan = share().service.plan(x.request);
    } catch (const std::exception&) {
        x.fault = std::current_exception();
    }
}

// While large replies lie in memory, because their clients take them slowly, no further one is made.
HttpSession::Task<void> HttpSession::await_room_for_reply(Exchange& x) {
    const auto deadline = Steady::now() + share().limits.write_idle_time;
    const bool waits = connection_->slot().standing() != Standing::reserved;
    while (waits && !share().has_room_for_reply(connection_->slot()) && !connection_->closed()) {
        if (Steady::now() >= deadline) x.fail(ErrorCode::exhausted, "server is too busy");
        if (x.fault) co_return;
        co_await connection_->sleep(full_server_pause);
    }
}

HttpSession::Task<void> HttpSession::run_handler(Exchange& x) {
    const auto later = std::make_shared<LaterReply>(connection_);
    const auto call = [&x, &later, this] {
        x.response = x.plan.handler(x.request);
        x.request.upload.reset();
        if (x.response.later) x.response.later(LaterReply::responder(later, connection_->shared_loop()));
    };
    if (x.plan.dispatch == Dispatch::on_io_thread) {
        try {
            call();
        } catch (const std::exception&) {
            x.fault = std::current_exception();
        }
    } else {
        const auto task = PoolTask::start(x.pool(share()), connection_->shared_loop(), call);
        if (task)
            x.fault = co_await task->join();
        else
            x.fail(ErrorCode::exhausted, "server is too busy");
    }
    if (!x.fault && x.response.later) co_await await_later(x, later);
}

// Reads meanwhile: only the end of the connection tells that the client waits no longer. A client that closes
// its direction alone has sent all its requests and still waits.
HttpSession::Task<void> HttpSession::await_later(Exchange& x, std::shared_ptr<LaterReply> later) {
    connection_->set_activity(Activity::streaming);
    while (!later->ready() && !x.broken) {
        const bool more = co_await connection_->receive(in_, Connection::Instant::max());
        if (!more && connection_->half_closed()) co_await connection_->await_loss();
        const std::size_t pipelined = in_.view().size();
        const bool room =
            pipelined <= pipelined_bytes && connection_->slot().charge(x.request.body.size() + pipelined);
        x.broken = !later->ready() && (!more || !room);
    }
    connection_->set_activity(Activity::answering);
    connection_->resume();
    if (later->ready()) x.fault = later->take(x.response);
}

// Reads nothing meanwhile: what follows may be the rest of a body that is not wanted.
HttpSession::Task<void> HttpSession::await_fault_reply(Exchange& x) {
    const auto later = std::make_shared<LaterReply>(connection_);
    const auto ask = std::exchange(x.response.later, nullptr);
    ask(LaterReply::responder(later, connection_->shared_loop()));
    co_await connection_->await_interrupt();
    connection_->resume();
    x.broken = !later->ready();
    if (x.broken || !later->take(x.response)) co_return;
    x.response = Response();
    x.response.status = 500;
}

void HttpSession::finish(Exchange& x, int status) {
    release_on_pool(x.pool(share()), std::move(x.request.upload));
    release_on_pool(x.pool(share()), std::shared_ptr<BodySource>(std::move(x.response.source)));
    if (!x.planned) return;
    try {
        share().service.done(x.request, status, x.received, x.sent, Steady::now() - x.begin);
    } catch (const std::exception& e) {
        log::error("request accounting failed", {{"error", e.what()}});
    }
}

}  // namespace svc::net

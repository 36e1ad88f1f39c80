#include "libsvc/net/server/reply_sender.h"

#include <algorithm>
#include <atomic>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/http/message_text.h"
#include "libsvc/net/http/reply_head.h"

namespace svc::net {

using Activity = Connection::Activity;

namespace {

constexpr std::size_t joined_body_bytes = 16U << 10;  // up to here, one copy is cheaper than one more packet
constexpr std::size_t reply_source_piece_bytes = 256U << 10;
constexpr std::size_t untrusted_piece_bytes = 32U << 10;
constexpr std::size_t large_reply_bytes = 64U << 10;

// A reply that lies in memory until it is sent.
class LargeReply {
  public:
    LargeReply(std::atomic<std::size_t>& all, std::size_t bytes)
        : all_(all), bytes_(bytes < large_reply_bytes ? 0 : bytes) {
        if (bytes_ > 0) all_ += bytes_;
    }
    ~LargeReply() {
        if (bytes_ > 0) all_ -= bytes_;
    }
    LargeReply(const LargeReply&) = delete;
    LargeReply& operator=(const LargeReply&) = delete;

  private:
    std::atomic<std::size_t>& all_;
    const std::size_t bytes_;
};

std::size_t piece_bytes(const ConnectionSlot& slot) {
    return slot.standing() == Standing::untrusted ? untrusted_piece_bytes : reply_source_piece_bytes;
}

}  // namespace

void ReplySender::settle() {
    if (!x_.fault && x_.response.websocket) check_upgrade();
    if (x_.fault) replace_by_fault();
}

void ReplySender::prepare(bool nothing_follows) {
    if (x_.fault) x_.response.websocket = nullptr;
    if (x_.fault && x_.request.wants_websocket()) x_.response.headers.set("Sec-WebSocket-Version", "13");
    // After a request that was not read whole, what follows may be the rest of it.
    x_.keep = x_.planned && x_.body_complete() && x_.parser.keep_alive() && !x_.upgrade &&
              !x_.response.close && !nothing_follows && !connection_.ending() &&
              !connection_.share().stopping;
}

void ReplySender::replace_by_fault() {
    Response replaced = std::exchange(x_.response, Response());
    release_on_pool(x_.pool(connection_.share()), std::shared_ptr<BodySource>(std::move(replaced.source)));
    try {
        std::rethrow_exception(x_.fault);
    } catch (const std::exception& error) {
        try {
            x_.response = connection_.share().service.fault(x_.planned ? &x_.request : nullptr, error);
        } catch (const std::exception& e) {
            log::error("response failed", {{"error", e.what()}});
            x_.response.status = 500;
        }
    }
}

void ReplySender::check_upgrade() {
    const auto& request = x_.request;
    if (!request.wants_websocket() || !x_.parser.http_1_1())
        return x_.fail(ErrorCode::invalid_argument, "websocket upgrade expected");
    if (request.headers.get("Sec-WebSocket-Version") != "13")
        return x_.fail(ErrorCode::invalid_argument, "websocket version must be 13");
    if (!is_websocket_key(request.headers.get("Sec-WebSocket-Key")))
        return x_.fail(ErrorCode::invalid_argument, "websocket key is invalid");
    const std::size_t most =
        ServerShare::open_to(connection_.slot(), connection_.share().limits.max_websockets);
    if (connection_.share().websockets >= most)
        return x_.fail(ErrorCode::exhausted, "too many websockets at once");
    connection_.slot().raise(Standing::trusted);  // the service has taken the client in
    name_subprotocol();
    x_.upgrade = true;
    x_.response.status = 101;
}

// Browsers take no answer that names none of the subprotocols that they have offered.
void ReplySender::name_subprotocol() {
    const auto offered = split(x_.request.headers.get("Sec-WebSocket-Protocol"), ',');
    if (!offered.empty() && !trim(offered.front()).empty())
        x_.response.headers.set("Sec-WebSocket-Protocol", std::string(trim(offered.front())));
}

ReplySender::Task<bool> ReplySender::send() {
    connection_.begin_reply();
    if (x_.upgrade) {
        const auto head = upgrade_head(x_.response, x_.request.headers.get("Sec-WebSocket-Key"));
        co_return co_await connection_.send(head);
    }
    if (x_.response.source) co_return co_await send_source();
    co_return co_await send_whole();
}

ReplySender::Task<bool> ReplySender::send_whole() {
    failpoint("reply.sends");
    const std::string& body = x_.response.body;
    const LargeReply counted(connection_.share().reply_bytes_of(connection_.slot()), body.size());
    ReplyFraming framing;
    framing.keep = x_.keep;
    framing.length = body.size();
    std::string head = reply_head(x_.response, framing);
    const bool with_body =
        x_.request.method != Method::head && !is_bodiless(x_.response.status) && !body.empty();
    const bool joined = with_body && body.size() <= joined_body_bytes;
    if (joined) head += body;
    if (!co_await connection_.send(head, with_body && !joined)) co_return false;
    if (with_body && !joined && !co_await connection_.send(body)) co_return false;
    if (with_body) x_.sent = body.size();
    co_return true;
}

// To a client of HTTP/1.0 the end of the connection is the end of a body without length.
ReplySender::Task<bool> ReplySender::send_source() {
    const BodySource& source = *x_.response.source;
    const LargeReply counted(connection_.share().reply_bytes_of(connection_.slot()), source.held_bytes());
    ReplyFraming framing;
    framing.length = source.length();
    framing.chunked = !framing.length && x_.parser.http_1_1() && !is_bodiless(x_.response.status);
    if (!framing.length && !framing.chunked) x_.keep = false;
    framing.keep = x_.keep;
    const std::string head = reply_head(x_.response, framing);
    if (!co_await connection_.send(head)) co_return false;
    if (x_.request.method == Method::head || is_bodiless(x_.response.status)) co_return true;
    if (!source.ends_by_itself()) connection_.set_activity(Activity::streaming);
    const bool whole = co_await send_pieces(framing.chunked, framing.length);
    connection_.set_activity(Activity::answering);
    co_return whole;
}

ReplySender::Task<bool> ReplySender::send_pieces(bool chunked, std::optional<std::uint64_t> length) {
    BodySource& source = *x_.response.source;
    const std::size_t most = piece_bytes(connection_.slot());
    for (;;) {
        const std::uint64_t left = length ? *length - x_.sent : most;
        if (length && left == 0) co_return true;
        std::string piece;
        const auto read = [&piece, &source, left, most] {
            piece = source.read(std::min<std::uint64_t>(left, most));
        };
        const auto task = co_await PoolTask::start_when_free(x_.pool(connection_.share()), connection_, read);
        if (!task) co_return false;
        if (co_await task->join()) co_return false;
        if (piece.size() > left && length) co_return false;
        if (piece.empty()) break;
        x_.sent += piece.size();
        if (chunked) piece = as_chunk(piece);
        if (!co_await connection_.send(piece)) co_return false;
    }
    if (length) co_return false;  // the source has less than it said
    if (chunked) co_return co_await connection_.send("0\r\n\r\n");
    co_return true;
}

}  // namespace svc::net

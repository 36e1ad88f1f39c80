// HttpSession: sending a response.
#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/http/reply_head.h"
#include "libsvc/net/server/http_session.h"

namespace svc::net {

using Activity = Connection::Activity;

namespace {

constexpr std::size_t joined_body_bytes = 16U << 10;  // up to here, one copy is cheaper than one more packet
constexpr std::size_t reply_source_piece_bytes = 256U << 10;

std::string as_chunk(std::string_view data) {
    char size[20];
    const auto end = std::to_chars(size, size + sizeof(size), data.size(), 16).ptr;
    std::string chunk;
    chunk.reserve(data.size() + sizeof(size) + 4);
    chunk.append(size, end).append("\r\n").append(data).append("\r\n");
    return chunk;
}

}  // namespace

void HttpSession::prepare_reply(Exchange& x) {
    if (!x.fault && x.response.websocket) check_upgrade(x);
    if (x.fault) replace_by_fault(x);
    // What is not understood whole is not followed by anything: it could be part of it.
    const bool asked_all = connection_->half_closed() && in_.empty();
    x.keep = x.planned && x.body_complete() && x.parser.keep_alive() && !x.upgrade && !x.response.close &&
             !asked_all && !connection_->ending() && !share().stopping;
}

void HttpSession::replace_by_fault(Exchange& x) {
    Response replaced = std::exchange(x.response, Response());
    release_on_pool(share().pool, std::shared_ptr<BodySource>(std::move(replaced.source)));
    try {
        std::rethrow_exception(x.fault);
    } catch (const std::exception& error) {
        try {
            x.response = share().service.fault(x.planned ? &x.request : nullptr, error);
        } catch (const std::exception& e) {
            log::error("response failed", {{"error", e.what()}});
            x.response.status = 500;
        }
    }
    x.response.websocket = nullptr;
    if (x.request.wants_websocket()) x.response.headers.set("Sec-WebSocket-Version", "13");
}

void HttpSession::check_upgrade(Exchange& x) {
    const auto& request = x.request;
    if (!request.wants_websocket() || !x.parser.http_1_1())
        return x.fail(ErrorCode::invalid_argument, "websocket upgrade expected");
    if (request.headers.get("Sec-WebSocket-Version") != "13")
        return x.fail(ErrorCode::invalid_argument, "websocket version must be 13");
    if (!is_websocket_key(request.headers.get("Sec-WebSocket-Key")))
        return x.fail(ErrorCode::invalid_argument, "websocket key is invalid");
    if (share().websockets >= share().limits.max_websockets)
        return x.fail(ErrorCode::exhausted, "too many websockets at once");
    x.upgrade = true;
    x.response.status = 101;
}

HttpSession::Task<bool> HttpSession::send_reply(Exchange& x) {
    if (x.upgrade) {
        const auto head = upgrade_head(x.response, x.request.headers.get("Sec-WebSocket-Key"));
        co_return co_await connection_->send(head);
    }
    if (x.response.source) co_return co_await send_source(x);
    co_return co_await send_whole(x);
}

HttpSession::Task<bool> HttpSession::send_whole(Exchange& x) {
    const std::string& body = x.response.body;
    ReplyFraming framing;
    framing.keep = x.keep;
    framing.length = body.size();
    std::string head = reply_head(x.response, framing);
    const bool with_body =
        x.request.method != Method::head && !is_bodiless(x.response.status) && !body.empty();
    const bool joined = with_body && body.size() <= joined_body_bytes;
    if (joined) head += body;
    if (!co_await connection_->send(head, with_body && !joined)) co_return false;
    if (with_body && !joined && !co_await connection_->send(body)) co_return false;
    if (with_body) x.sent = body.size();
    co_return true;
}

// A client of HTTP/1.0 knows the end of a body without length by the connection's end.
HttpSession::Task<bool> HttpSession::send_source(Exchange& x) {
    BodySource& source = *x.response.source;
    ReplyFraming framing;
    framing.length = source.length();
    framing.chunked = !framing.length && x.parser.http_1_1() && !is_bodiless(x.response.status);
    if (!framing.length && !framing.chunked) x.keep = false;
    framing.keep = x.keep;
    const std::string head = reply_head(x.response, framing);
    if (!co_await connection_->send(head)) co_return false;
    if (x.request.method == Method::head || is_bodiless(x.response.status)) co_return true;
    if (!framing.length) connection_->set_activity(Activity::streaming);
    const bool whole = co_await send_pieces(x, source, framing.chunked, framing.length);
    connection_->set_activity(Activity::answering);
    co_return whole;
}

HttpSession::Task<bool> HttpSession::send_pieces(Exchange& x, BodySource& source, bool chunked,
                                                 std::optional<std::uint64_t> length) {
    for (;;) {
        const std::uint64_t left = length ? *length - x.sent : reply_source_piece_bytes;
        if (length && left == 0) co_return true;
        std::string piece;
        const auto read = [&piece, &source, left] {
            piece = source.read(std::min<std::uint64_t>(left, reply_source_piece_bytes));
        };
        const auto task = co_await start_patiently(read);
        if (!task) co_return false;
        if (co_await task->join()) co_return false;
        if (piece.size() > left && length) co_return false;
        if (piece.empty()) break;
        x.sent += piece.size();
        if (chunked) piece = as_chunk(piece);
        if (!co_await connection_->send(piece)) co_return false;
    }
    if (length) co_return false;  // the source has less than it said
    if (chunked) co_return co_await connection_->send("0\r\n\r\n");
    co_return true;
}

}  // namespace svc::net

#include "libsvc/net/client/direct_call.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/http/http_parser.h"
#include "libsvc/net/http/message_text.h"

namespace svc::net {

namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr std::size_t request_source_piece_bytes = 256U << 10;
constexpr milliseconds continue_patience{1000};  // a server may leave "100 Continue" out

bool has_streamed_body(const ClientRequest& request) {
    return request.source && request.length != 0U;
}

void append_framing(std::string& out, const ClientRequest& request) {
    const bool may_be_empty =
        request.method != Method::post && request.method != Method::put && request.method != Method::patch;
    if (has_streamed_body(request)) append_field(out, "Expect", "100-continue");
    if (request.source && !request.length)
        append_field(out, "Transfer-Encoding", "chunked");
    else if (request.source)
        append_field(out, "Content-Length", std::to_string(*request.length));
    else if (!request.body.empty() || !may_be_empty)
        append_field(out, "Content-Length", std::to_string(request.body.size()));
}

}  // namespace

std::string request_head(const ClientChannel& channel, const ClientRequest& request) {
    if (request.path.find_first_of(" \r\n\t") != std::string::npos || !request.path.starts_with('/'))
        throw Error(ErrorCode::invalid_argument, "request path " + quoted(request.path) + " is invalid");
    std::string out;
    const Target& target = channel.target();
    const bool by_proxy = target.proxy && !target.tls;
    out.append(to_text(request.method)).append(" ").append(by_proxy ? target.describe() : "");
    out.append(request.path).append(" HTTP/1.1\r\n");
    append_field(out, "Host", channel.host());
    if (by_proxy && !target.proxy->authorization.empty())
        append_field(out, "Proxy-Authorization", target.proxy->authorization);
    for (const auto& [name, value] : request.headers) append_field(out, name, value);
    if (request.headers.find("Connection") == nullptr) append_field(out, "Connection", "close");
    append_framing(out, request);
    return out + "\r\n";
}

namespace {

// One call, step by step.
class DirectCall {
  public:
    DirectCall(ClientChannel& channel, const ClientRequest& request, InputBuffer& in)
        : channel_(channel), request_(request), in_(in), parser_(request.method == Method::head) {
        if (request.limit) end_ = Steady::now() + *request.limit;
    }

    ClientReply run() {
        channel_.write(request_head(channel_, request_) + (request_.source ? std::string() : request_.body),
                       request_.timeout);
        if (has_streamed_body(request_) && server_wants_body()) send_source();
        while (!parser_.take_header(in_))
            if (!read_more()) parser_.end_of_stream();
        reply_ = parser_.reply();
        read_body();
        return std::move(reply_);
    }

  private:
    // False at the end of the stream.
    bool read_more() {
        const auto count = read_some(patience());
        if (!count) throw Error(ErrorCode::unavailable, channel_.target().describe() + " does not answer");
        return *count > 0;
    }

    // A server that sends a byte now and then ends at the limit, too.
    milliseconds patience() const {
        if (!end_) return request_.timeout;
        const auto left = std::chrono::ceil<milliseconds>(*end_ - Steady::now());
        return std::clamp(left, milliseconds(0), request_.timeout);
    }

    std::optional<std::size_t> read_some(milliseconds timeout) {
        std::array<char, 16U << 10> buffer;
        const auto count = channel_.read(buffer.data(), buffer.size(), timeout);
        in_.append(buffer.data(), count.value_or(0));
        return count;
    }

    // "100 Continue", or nothing for a while: then the body is sent. Anything else is the answer already. The
    // parser skips "100 Continue" by itself.
    bool server_wants_body() {
        const auto count = read_some(continue_patience);
        return !count || (*count > 0 && in_.view().starts_with("HTTP/1.1 100"));
    }

    // Ends early when the server answers before it has read all: it does not want the rest.
    void send_source() {
        const std::size_t before = in_.view().size();
        std::uint64_t left = request_.length.value_or(request_source_piece_bytes);
        while (left > 0 && in_.view().size() == before) {
            const std::string piece =
                request_.source(std::min<std::uint64_t>(left, request_source_piece_bytes));
            if (request_.length && (piece.empty() || piece.size() > left))
                throw Error(ErrorCode::invalid_argument, "request body is not as long as announced");
            if (!send_piece(request_.length ? piece : as_chunk(piece))) return;
            if (piece.empty()) return;
            if (request_.length) left -= piece.size();
        }
    }

    // Receives what the server says meanwhile. False when the server reads no more: its answer may have
    // arrived.
    bool send_piece(std::string_view piece) {
        try {
            channel_.write(piece, request_.timeout);
            read_some(milliseconds(0));
            return true;
        } catch (const Error&) {
            return false;
        }
    }

    void read_body() {
        const bool to_sink = request_.sink && reply_.status >= 200 && reply_.status < 300;
        std::string piece(64U << 10, '\0');
        while (!parser_.complete()) {
            const std::size_t count = parser_.take_body(in_, piece.data(), piece.size());
            const auto data = std::string_view(piece).substr(0, count);
            if (to_sink && count > 0) request_.sink(data);
            if (!to_sink) keep(data);
            if (count > 0 || parser_.complete()) continue;
            if (!read_more()) return parser_.end_of_stream();
        }
    }

    void keep(std::string_view data) {
        if (data.size() > request_.max_reply - reply_.body.size())
            throw Error(ErrorCode::unavailable, channel_.target().describe() + " answers with too much");
        reply_.body.append(data);
    }

    ClientChannel& channel_;
    const ClientRequest& request_;
    InputBuffer& in_;
    ReplyParser parser_;
    ClientReply reply_;
    std::optional<Steady::time_point> end_;
};

}  // namespace

ClientReply exchange(ClientChannel& channel, const ClientRequest& request, InputBuffer& in) {
    return DirectCall(channel, request, in).run();
}

}  // namespace svc::net

namespace svc {

ClientReply call_directly(const Target& target, const ClientRequest& request) {
    net::ClientChannel channel(target, request.timeout);
    net::InputBuffer in;
    return net::exchange(channel, request, in);
}

}  // namespace svc

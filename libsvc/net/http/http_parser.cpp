#include "libsvc/net/http/http_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::net {

namespace http = boost::beast::http;
namespace asio = boost::asio;
using ErrorCodeOfBoost = boost::system::error_code;

namespace {

constexpr std::size_t reply_header_bytes = 64U << 10;
// Beast parses the line of a chunk, and the trailer, only when all of it is in the buffer.
constexpr std::size_t chunk_line_bytes = 16U << 10;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, what);
}

std::string_view to_view(boost::beast::string_view text) {
    return std::string_view(text.data(), text.size());
}

// One step of the parser; false: it needs more bytes than there are.
template <class Parser>
bool put(Parser& parser, InputBuffer& in, ErrorCodeOfBoost& error) {
    const auto view = in.view();
    const std::size_t used = parser.put(asio::buffer(view.data(), view.size()), error);
    in.consume(used);
    if (error != http::error::need_more) return true;
    error = {};
    return used > 0;
}

template <class Parser>
std::size_t put_body(Parser& parser, InputBuffer& in, char* out, std::size_t room, ErrorCodeOfBoost& error) {
    auto& body = parser.get().body();
    body.data = out;
    body.size = room;
    body.more = true;
    while (!parser.is_done() && body.size > 0 && !in.empty()) {
        const bool progress = put(parser, in, error);
        if (error == http::error::need_buffer) error = {};
        if (error || !progress) break;
    }
    return room - body.size;
}

template <class Fields>
Headers to_headers(const Fields& fields) {
    Headers headers;
    for (const auto& field : fields)
        headers.add(std::string(to_view(field.name_string())), std::string(to_view(field.value())));
    return headers;
}

// "key=value&key" into pairs; the first of equal names stays.
std::map<std::string, std::string> parse_query(std::string_view text) {
    std::map<std::string, std::string> query;
    for (const auto& part : split(text, '&')) {
        if (part.empty()) continue;
        const auto equals = part.find('=');
        const auto value = equals == std::string::npos ? std::string() : part.substr(equals + 1);
        query.emplace(percent_decode(part.substr(0, equals), true), percent_decode(value, true));
    }
    return query;
}

// "http://host/path", as proxies send it. The host is not looked at.
std::string_view without_origin(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!iequals(target.substr(0, scheme.size()), scheme)) continue;
        const auto slash = target.find('/', scheme.size());
        return slash == std::string_view::npos ? "/" : target.substr(slash);
    }
    return target;
}

void parse_target(Request& request) {
    const auto target = without_origin(request.target);
    if (!target.starts_with('/')) refuse("request target must begin with '/'");
    if (target.find('#') != std::string_view::npos) refuse("request target must not have a fragment");
    const auto question = target.find('?');
    request.path = percent_decode(target.substr(0, question));
    if (request.path.find('\0') != std::string::npos) refuse("request path must not hold a NUL character");
    if (question != std::string_view::npos) request.query = parse_query(target.substr(question + 1));
}

}  // namespace

struct RequestParser::State {
    http::request_parser<http::buffer_body> parser;
    std::size_t header_count;
    bool begun = false;
    std::size_t scanned = 0;  // of the bytes that the parser has not taken
    bool scan_done = false;

    const auto& fields() const { return parser.get(); }

    // A line that begins with a space would be part of the line before it; not every reader agrees.
    void check_lines(std::string_view unread) {
        while (!scan_done) {
            const auto end = unread.find('\n', scanned);
            scanned = std::min(end, unread.size());
            if (end == std::string_view::npos || end + 1 == unread.size()) return;
            scanned = end + 1;
            if (unread[scanned] == ' ' || unread[scanned] == '\t')
                refuse("request header must not have folded lines");
            scan_done = unread[scanned] == '\r';  // an empty line
        }
    }

    // Beast accepts these.
    void check_header() const {
        const auto version = fields().version();
        if (version != 10 && version != 11) refuse("HTTP version must be 1.0 or 1.1");
        std::size_t count = 0;
        for (const auto& field : fields()) {
            ++count;
            if (field.value().find('\0') != boost::beast::string_view::npos)
                refuse("request header must not hold a NUL character");
        }
        if (count > header_count) refuse("request has too many header fields");
        if (fields().count(http::field::host) > 1 ||
            (version == 11 && fields().count(http::field::host) == 0))
            refuse("request must have one Host header");
        check_transfer_encoding();
    }

    void check_transfer_encoding() const {
        if (fields().count(http::field::transfer_encoding) == 0) return;
        if (fields().count(http::field::transfer_encoding) > 1 ||
            !iequals(to_view(fields()[http::field::transfer_encoding]), "chunked"))
            refuse("transfer encoding must be 'chunked'");
        if (fields().version() == 10) refuse("HTTP/1.0 has no transfer encoding");
    }
};

RequestParser::RequestParser(std::size_t header_bytes, std::size_t header_count)
    : state_(std::make_unique<State>()) {
    state_->header_count = header_count;
    state_->parser.header_limit(static_cast<std::uint32_t>(header_bytes));
    state_->parser.body_limit(boost::none);  // counted by who reads the body
}

RequestParser::~RequestParser() = default;

bool RequestParser::take_header(InputBuffer& in) {
    auto& parser = state_->parser;
    while (!state_->begun && in.view().starts_with("\r\n")) in.consume(2);  // RFC 9112 2.2: robustness
    if (in.empty() || in.view() == "\r") return false;
    state_->begun = true;
    while (!parser.is_header_done()) {
        ErrorCodeOfBoost error;
        state_->check_lines(in.view());
        const std::size_t before = in.view().size();
        const bool progress = put(parser, in, error);
        if (error) refuse("request is malformed: " + to_lower(error.message()));
        if (!progress) return false;
        state_->scanned -= std::min(state_->scanned, before - in.view().size());
    }
    parser.eager(true);
    state_->check_header();
    return true;
}

Request RequestParser::request() const {
    const auto& fields = state_->fields();
    Request request;
    request.method_text = std::string(to_view(fields.method_string()));
    request.method = parse_method(request.method_text);
    request.target = std::string(to_view(fields.target()));
    request.headers = to_headers(fields);
    if (const auto length = state_->parser.content_length()) request.content_length = *length;
    parse_target(request);
    return request;
}

bool RequestParser::http_1_1() const {
    return state_->fields().version() == 11;
}

bool RequestParser::keep_alive() const {
    return http_1_1() && state_->parser.keep_alive();
}

bool RequestParser::chunked() const {
    return state_->parser.chunked();
}

bool RequestParser::expects_continue() const {
    return http_1_1() && iequals(to_view(state_->fields()[http::field::expect]), "100-continue");
}

std::size_t RequestParser::take_body(InputBuffer& in, char* out, std::size_t room) {
    ErrorCodeOfBoost error;
    const std::size_t taken = put_body(state_->parser, in, out, room, error);
    if (error) refuse("request body is malformed: " + to_lower(error.message()));
    if (taken == 0 && !complete() && in.view().size() > chunk_line_bytes) refuse("chunk header is too long");
    return taken;
}

bool RequestParser::complete() const {
    return state_->parser.is_done();
}

struct ReplyParser::State {
    explicit State(bool to_head) : to_head(to_head) { reset(); }
    void reset() {
        parser.emplace();
        parser->header_limit(reply_header_bytes);
        parser->body_limit(boost::none);
        if (to_head) parser->skip(true);
    }
    bool interim() const {
        const auto status = parser->get().result_int();
        return status >= 100 && status < 200 && status != 101;
    }

    bool to_head;
    std::optional<http::response_parser<http::buffer_body>> parser;
};

namespace {

[[noreturn]] void refuse_reply(const ErrorCodeOfBoost& error) {
    throw Error(ErrorCode::unavailable, "response is malformed: " + to_lower(error.message()));
}

}  // namespace

ReplyParser::ReplyParser(bool to_head_request) : state_(std::make_unique<State>(to_head_request)) {}

ReplyParser::~ReplyParser() = default;

bool ReplyParser::take_header(InputBuffer& in) {
    while (!in.empty()) {
        ErrorCodeOfBoost error;
        const bool progress = put(*state_->parser, in, error);
        if (error) refuse_reply(error);
        if (!progress) return false;
        if (!state_->parser->is_header_done()) continue;
        if (!state_->interim()) {
            state_->parser->eager(true);
            return true;
        }
        state_->reset();
    }
    return false;
}

ClientReply ReplyParser::reply() const {
    const auto& fields = state_->parser->get();
    ClientReply reply;
    reply.status = static_cast<int>(fields.result_int());
    reply.headers = to_headers(fields);
    return reply;
}

std::size_t ReplyParser::take_body(InputBuffer& in, char* out, std::size_t room) {
    ErrorCodeOfBoost error;
    const std::size_t taken = put_body(*state_->parser, in, out, room, error);
    if (error) refuse_reply(error);
    return taken;
}

bool ReplyParser::complete() const {
    return state_->parser->is_done();
}

void ReplyParser::end_of_stream() {
    ErrorCodeOfBoost error;
    if (state_->parser->got_some()) state_->parser->put_eof(error);
    if (error || !state_->parser->is_done())
        throw Error(ErrorCode::unavailable, "connection closed before the response was complete");
}

}  // namespace svc::net

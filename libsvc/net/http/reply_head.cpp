#include "libsvc/net/http/reply_head.h"

#include <openssl/evp.h>

#include <ctime>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/http/message_text.h"

namespace svc::net {

namespace {

std::string_view reason_of(int status) {
    static constexpr std::pair<int, std::string_view> reasons[] = {
        {100, "Continue"},
        {101, "Switching Protocols"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {207, "Multi-Status"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {416, "Range Not Satisfiable"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
    };
    for (const auto& [code, reason] : reasons)
        if (code == status) return reason;
    return "Unknown";
}

// Formatted once a second: that costs more than the rest of a header.
const std::string& date_now() {
    thread_local std::time_t written_at = 0;
    thread_local std::string text;
    const std::time_t now = std::time(nullptr);
    if (now != written_at) {
        std::tm parts{};
        gmtime_r(&now, &parts);
        char buffer[64];
        text.assign(buffer, std::strftime(buffer, sizeof(buffer), "%a, %d %b %Y %H:%M:%S GMT", &parts));
        written_at = now;
    }
    return text;
}

std::string begin_head(int status) {
    std::string out;
    out.reserve(256);
    out += "HTTP/1.1";
    out += ' ';
    out += std::to_string(status);
    out += ' ';
    out += reason_of(status);
    out += "\r\nDate: ";
    out += date_now();
    out += "\r\n";
    return out;
}

}  // namespace

bool is_bodiless(int status) {
    return status < 200 || status == 204 || status == 304;
}

std::string reply_head(const Response& response, const ReplyFraming& framing) {
    std::string out = begin_head(response.status);
    for (const auto& [name, value] : response.headers) append_field(out, name, value);
    if (framing.length && !is_bodiless(response.status))
        append_field(out, "Content-Length", std::to_string(*framing.length));
    if (framing.chunked) append_field(out, "Transfer-Encoding", "chunked");
    if (!framing.keep) append_field(out, "Connection", "close");
    out += "\r\n";
    return out;
}

std::string upgrade_head(const Response& response, std::string_view websocket_key) {
    std::string out = begin_head(101);
    for (const auto& [name, value] : response.headers) append_field(out, name, value);
    append_field(out, "Upgrade", "websocket");
    append_field(out, "Connection", "Upgrade");
    append_field(out, "Sec-WebSocket-Accept", websocket_accept(websocket_key));
    out += "\r\n";
    return out;
}

bool is_websocket_key(std::string_view key) {
    try {
        return key.size() == 24 && base64_decode(key).size() == 16;
    } catch (const Error&) {
        return false;
    }
}

// RFC 6455 4.2.2. SHA-1 is no security here: it only shows that the other side speaks the protocol.
std::string websocket_accept(std::string_view key) {
    const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr) != 1)
        throw Error(ErrorCode::internal, "cannot compute SHA-1");
    return base64_encode(std::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace svc::net

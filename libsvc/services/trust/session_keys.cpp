#include "libsvc/services/trust/session_keys.h"

#include <charconv>

#include "libsvc/base/digest.h"

namespace svc {

namespace {

// The end, and a seal of it that only the service can make.
std::string ticket_of(const BrowserSession& session, std::string_view path, std::int64_t end) {
    const std::string seconds = std::to_string(end);
    const std::string sealed = "ticket:" + session.id + ":" + seconds + ":" + std::string(path);
    return seconds + "." + base64url_encode(hmac_sha256(session.key_hash, sealed));
}

}  // namespace

bool is_key_of(const BrowserSession& session, std::string_view key) {
    return !session.key_hash.empty() && equal_constant_time(session.key_hash, sha256_hex(key));
}

std::string make_ticket(const BrowserSession& session, std::string_view path, Time end) {
    return ticket_of(session, path, to_unix_seconds(end));
}

bool is_ticket_of(const BrowserSession& session, std::string_view path, std::string_view ticket, Time now) {
    std::int64_t seconds = 0;
    const auto read = std::from_chars(ticket.data(), ticket.data() + ticket.size(), seconds);
    if (session.key_hash.empty() || read.ec != std::errc() || seconds <= to_unix_seconds(now)) return false;
    return equal_constant_time(ticket_of(session, path, seconds), ticket);
}

}  // namespace svc

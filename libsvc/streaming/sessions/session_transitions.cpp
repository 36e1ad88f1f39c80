#include "libsvc/streaming/sessions/session_transitions.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t max_reason = 1024;  // bytes

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// White space becomes a space, other control characters 0; any other character is itself.
char in_place_of(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= '\t' && byte <= '\r' ? ' ' : byte < 0x20 || byte == 0x7F ? '\0' : c;
}

}  // namespace

void set_status(StreamSession& session, SessionStatus status, const std::string& reason, Time now) {
    if (!may_move(session.status, status))
        throw Error(ErrorCode::internal, "session " + quoted(session.id) + " cannot move from " +
                                             std::string(to_text(session.status)) + " to " +
                                             std::string(to_text(status)));
    session.status = status;
    session.status_message = reason;
    session.changed_at = now;
}

bool begin_end(StreamSession& session, const std::string& reason, Time now) {
    if (session.forgotten || !may_move(session.status, SessionStatus::terminating)) return false;
    set_status(session, SessionStatus::terminating, reason, now);
    session.client_connected = false;
    session.removal_due = true;
    return true;
}

bool has_moved(const StreamSession& seen, const StreamSession& now) {
    return now.status != seen.status || now.container_id != seen.container_id;
}

std::string fit_reason(const std::string& reason) {
    std::string text;
    for (std::size_t i = 0; i < reason.size() && text.size() <= max_reason; ++i) {
        const bool is_c1 = reason[i] == '\xC2' && i + 1 < reason.size() && is_continuation(reason[i + 1]) &&
                           reason[i + 1] < '\xA0';
        if (is_c1)
            ++i;
        else if (const char c = in_place_of(reason[i]))
            text += c;
    }
    if (text.size() <= max_reason) return text.empty() ? "Container failed" : text;
    std::size_t end = max_reason;
    while (end > 0 && is_continuation(text[end])) --end;
    text.resize(end);
    return text;
}

}  // namespace svc

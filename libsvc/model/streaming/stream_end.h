#pragma once
// Why a client's stream ended: a code for programs and a text for people (docs/streaming.md, "How a stream
// ends").
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

namespace end_code {
inline constexpr std::string_view replaced = "replaced";  // by another client
inline constexpr std::string_view deleted = "deleted";    // the session or its account was deleted
inline constexpr std::string_view idle = "idle";
inline constexpr std::string_view expired = "expired";  // a limit of time
inline constexpr std::string_view client_left = "client_left";
inline constexpr std::string_view stopped = "stopped";                    // the instance, or its streamer
inline constexpr std::string_view instance_deleted = "instance_deleted";  // at the management service
inline constexpr std::string_view failed = "failed";                      // the instance
inline constexpr std::string_view gateway_stopping = "gateway_stopping";
inline constexpr std::string_view not_ready = "not_ready";  // more messages than wait for an instance
inline constexpr std::string_view not_read = "not_read";    // the client leaves its messages unread
inline constexpr std::string_view refused = "refused";      // a message of the client
inline constexpr std::string_view connection_failed = "connection_failed";
inline constexpr std::string_view ended = "ended";  // the session, for another reason
}  // namespace end_code

struct StreamEnd {
    // Without a code: the session ended.
    StreamEnd(std::string message, std::string_view code = end_code::ended)
        : message(std::move(message)), code(code) {}
    StreamEnd(const char* message, std::string_view code = end_code::ended)
        : StreamEnd(std::string(message), code) {}

    Json error() const;  // the message of the signalling socket: {"type":"error","code","message"}

    std::string message, code;
};

}  // namespace svc

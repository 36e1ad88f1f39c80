#include "libsvc/client/event_stream.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {
namespace {

std::string events_path(std::string_view types, std::optional<std::int64_t> since) {
    std::vector<std::string> query;
    std::vector<std::string> encoded;
    for (const auto& type : split(types, ',')) encoded.push_back(percent_encode(type));
    if (!encoded.empty()) query.push_back("type=" + join(encoded, ","));
    if (since) query.push_back("since=" + std::to_string(*since));
    return "/1.0/events" + (query.empty() ? "" : "?" + join(query, "&"));
}

}  // namespace

EventStream::EventStream(const Target& target, std::string_view types, std::optional<std::int64_t> since)
    : socket_(target, events_path(types, since)) {}

std::optional<Json> EventStream::next(std::optional<std::chrono::milliseconds> timeout) {
    const std::optional<WebSocketMessage> message = socket_.receive(timeout);
    if (!message) return std::nullopt;
    if (message->kind == WebSocketMessage::Kind::closed) {
        const std::string why = message->data.empty() ? "" : ": " + message->data;
        throw Error(ErrorCode::unavailable, "the service ended the stream of events" + why);
    }
    return Json::parse(message->data);
}

}  // namespace svc

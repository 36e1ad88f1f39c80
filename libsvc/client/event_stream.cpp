#include "libsvc/client/event_stream.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {
namespace {

std::string events_path(std::string_view types) {
    std::string path = "/1.0/events";
    if (types.empty()) return path;
    std::vector<std::string> encoded;
    for (const auto& type : split(types, ',')) encoded.push_back(percent_encode(type));
    return path + "?type=" + join(encoded, ",");
}

}  // namespace

EventStream::EventStream(const Target& target, std::string_view types)
    : socket_(target, events_path(types)) {}

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

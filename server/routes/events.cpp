#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "server/http/event_stream.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

// A manager that follows this one has them all; it asks for none by name, because an older leader would
// refuse a type that it does not know.
std::set<EventType> usual_types(const Request& request) {
    std::set<EventType> types{EventType::operation, EventType::logging, EventType::lifecycle};
    if (!request.peer->forwarded_by.empty()) types.insert(EventType::audit);
    return types;
}

// The audit is for who asks for it by name.
std::set<EventType> wanted_types(const Request& request) {
    std::set<EventType> types;
    for (const std::string& type : split(request.query_value("type"), ',')) {
        if (type == "all")
            types.merge(usual_types(request));
        else
            types.insert(parse_event_type(type));
    }
    return types.empty() ? usual_types(request) : types;
}

// The number of the last event that the client has seen.
std::optional<std::uint64_t> wanted_past(const Request& request) {
    if (!request.query.contains("since")) return {};
    const std::string text = request.query_value("since");
    std::uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument,
                    "argument since is invalid: the number of an event is expected");
    return number;
}

Response follow_events(const Services& services, const Request& request) {
    std::set<EventType> types = wanted_types(request);
    const auto since = wanted_past(request);
    if (types.contains(EventType::audit)) services.authenticator.require(Role::admin, request);
    if (!request.wants_websocket()) throw Error(ErrorCode::invalid_argument, "websocket upgrade is required");
    return event_stream(services.events, std::move(types), services.limits.events, since);
}

}  // namespace

std::vector<Route> event_routes(const Services& services) {
    return {{Method::get, "/1.0/events", Access::viewer, Dispatch::on_pool, "events",
             [services](Request& request) { return follow_events(services, request); }}};
}

}  // namespace svc::server

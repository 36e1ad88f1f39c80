#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "server/http/event_stream.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

// The audit is for who asks for it by name.
std::set<EventType> usual_types() {
    return {EventType::operation, EventType::logging, EventType::lifecycle};
}

std::set<EventType> wanted_types(const Request& request) {
    std::set<EventType> types;
    for (const std::string& type : split(request.query_value("type"), ',')) {
        if (type == "all")
            types.merge(usual_types());
        else
            types.insert(parse_event_type(type));
    }
    return types.empty() ? usual_types() : types;
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

// A number, and so `since`, is of one row: the audit's events have one of their own.
EventBus& row_of(const Services& services, const std::set<EventType>& types, const Request& request) {
    if (!types.contains(EventType::audit)) return services.events;
    services.authenticator.require(Role::admin, request);
    if (types.size() > 1)
        throw Error(ErrorCode::invalid_argument,
                    "argument type is invalid: the audit has numbers of its own and is followed by itself");
    return services.audit;
}

Response follow_events(const Services& services, const Request& request) {
    std::set<EventType> types = wanted_types(request);
    const auto since = wanted_past(request);
    EventBus& row = row_of(services, types, request);
    if (!request.wants_websocket()) throw Error(ErrorCode::invalid_argument, "websocket upgrade is required");
    return event_stream(row, std::move(types), services.limits.events, since);
}

}  // namespace

std::vector<Route> event_routes(const Services& services) {
    return {{Method::get, "/1.0/events", Access::viewer, Dispatch::on_pool, "events",
             [services](Request& request) { return follow_events(services, request); }}};
}

}  // namespace svc::server

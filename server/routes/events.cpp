#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "server/event_stream.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

std::set<EventType> wanted_types(const Request& request) {
    std::set<EventType> all{EventType::operation, EventType::logging, EventType::lifecycle};
    std::set<EventType> types;
    for (const std::string& type : split(request.query_value("type"), ',')) {
        if (type == "all") return all;
        types.insert(parse_event_type(type));
    }
    return types.empty() ? all : types;
}

Response follow_events(const Services& services, const Request& request) {
    std::set<EventType> types = wanted_types(request);
    if (!request.wants_websocket()) throw Error(ErrorCode::invalid_argument, "websocket upgrade is required");
    return event_stream(services.events, std::move(types),
                        {services.options.event_queue_bytes, services.options.event_queue_messages});
}

}  // namespace

std::vector<Route> event_routes(const Services& services) {
    return {{Method::get, "/1.0/events", Access::trusted, Dispatch::on_pool, "events",
             [services](Request& request) { return follow_events(services, request); }}};
}

}  // namespace svc::server

#include "instance-agent/agent/devices/tracing/traced.h"

namespace svc::agent {

std::vector<Route> traced(std::vector<Route> routes, Tracer& tracer) {
    for (Route& route : routes) {
        const std::string name = std::string(to_text(route.method)) + " " + route.path;
        route.handler = [handler = std::move(route.handler), name, &tracer](Request& request) {
            const TraceSlice slice(tracer, "api", name);
            return handler(request);
        };
    }
    return routes;
}

std::vector<GuestFeature> traced(std::vector<GuestFeature> features, Tracer& tracer) {
    for (GuestFeature& feature : features) {
        for (auto& [name, op] : feature.ops) {
            if (name == "trace.event") continue;  // tells of itself
            op = [op = std::move(op), name = name, &tracer](const auto& session, const JsonFields& request) {
                const TraceSlice slice(tracer, "guest", name);
                return op(session, request);
            };
        }
    }
    return features;
}

}  // namespace svc::agent

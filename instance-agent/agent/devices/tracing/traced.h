#pragma once
// Makes slices of what the two sockets call.
#include "instance-agent/agent/devices/tracing/tracer.h"
#include "instance-agent/agent/guest/guest_server.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// The tracer outlives what is returned.
std::vector<Route> traced(std::vector<Route> routes, Tracer& tracer);
std::vector<GuestFeature> traced(std::vector<GuestFeature> features, Tracer& tracer);

}  // namespace svc::agent

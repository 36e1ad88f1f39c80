#pragma once
// Wraps routes and guest ops so that each call is a slice of the trace.
#include "instance-agent/agent/devices/tracing/tracer.h"
#include "instance-agent/agent/guest/guest_session.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// The tracer outlives the returned routes and features.
std::vector<Route> traced(std::vector<Route> routes, Tracer& tracer);
std::vector<GuestFeature> traced(std::vector<GuestFeature> features, Tracer& tracer);

}  // namespace svc::agent

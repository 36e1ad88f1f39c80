#pragma once
// The metrics stream_gateway_* of sessions, accounts and regions, counted at each scrape.
#include <functional>

#include "libsvc/base/metrics.h"
#include "libsvc/streaming/account_service.h"
#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/sessions/session_service.h"

namespace svc::gateway {

// The registry must not be read after the services were destroyed.
void add_service_metrics(MetricsRegistry& registry, const SessionService& sessions,
                         const AccountService& accounts, std::function<RegionCounts()> regions);

}  // namespace svc::gateway

#include "libsvc/store/etcd/lease.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/store/etcd/wire.h"

namespace svc::etcd {

Lease::Lease(Cluster& cluster, std::chrono::seconds time_to_live, Clock& clock)
    : cluster_(cluster), time_to_live_(time_to_live), clock_(clock) {}

Lease::~Lease() {
    if (id_ == 0) return;
    try {
        cluster_.call("/v3/lease/revoke", Json::object({{"ID", std::to_string(id_)}}));
    } catch (const Error& e) {
        log::debug("a lease in etcd is left to end by itself", {{"error", e.what()}});
    }
}

void Lease::grant() {
    const SteadyTime sent = clock_.steady_now();
    const Json reply =
        cluster_.call("/v3/lease/grant", Json::object({{"TTL", std::to_string(time_to_live_.count())}}));
    id_ = number(reply, "ID");
    lives_from(sent);
}

// A lease that has ended is answered without a time to live.
bool Lease::renew() {
    const SteadyTime sent = clock_.steady_now();
    const Json reply = cluster_.call("/v3/lease/keepalive", Json::object({{"ID", std::to_string(id_)}}));
    const Json* const result = reply.find("result");
    if (result == nullptr || number(*result, "TTL") == 0) return false;
    lives_from(sent);
    return true;
}

// etcd counts from when it got the request, which is later.
void Lease::lives_from(SteadyTime sent) {
    renewed_ = sent;
    due_ = sent + time_to_live_ / 3;
    lives_until_ = sent + time_to_live_ - std::chrono::milliseconds(time_to_live_) / 6;
}

Duration Lease::until_due() const {
    return std::max(due_ - clock_.steady_now(), Duration::zero());
}

Duration Lease::age() const {
    const SteadyTime renewed = renewed_;
    return renewed == SteadyTime() ? Duration::zero() : clock_.steady_now() - renewed;
}

bool Lease::surely_lives() const {
    return clock_.steady_now() < lives_until_.load();
}

}  // namespace svc::etcd

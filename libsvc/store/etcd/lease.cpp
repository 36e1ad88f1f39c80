#include "libsvc/store/etcd/lease.h"

#include <pthread.h>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/store/etcd/wire.h"

namespace svc::etcd {

Lease::Lease(Cluster& cluster, std::chrono::seconds time_to_live, Clock& clock)
    : cluster_(cluster), time_to_live_(time_to_live), clock_(clock), id_(grant()) {}

Lease::~Lease() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
    try {
        cluster_.call("/v3/lease/revoke", Json::object({{"ID", std::to_string(id_)}}));
    } catch (const Error& e) {
        log::debug("a lease in etcd is left to end by itself", {{"error", e.what()}});
    }
}

void Lease::keep(Replace replace) {
    thread_ = std::jthread(
        [this, replace = std::move(replace)](const std::stop_token& stop) { run(stop, replace); });
}

std::uint64_t Lease::grant() {
    const Json reply =
        cluster_.call("/v3/lease/grant", Json::object({{"TTL", std::to_string(time_to_live_.count())}}));
    return number(reply, "ID");
}

void Lease::run(const std::stop_token& stop, const Replace& replace) {
    ::pthread_setname_np(::pthread_self(), "etcd-lease");
    while (clock_.wait(stop, time_to_live_ / 3)) {
        try {
            if (!renew(replace)) return;
        } catch (const Error& e) {
            log::debug("a lease in etcd could not be renewed", {{"error", e.what()}});
        }
    }
}

// A lease that has ended is answered without a time to live.
bool Lease::renew(const Replace& replace) {
    const Json reply = cluster_.call("/v3/lease/keepalive", Json::object({{"ID", std::to_string(id_)}}));
    const Json* const result = reply.find("result");
    if (result == nullptr || number(*result, "TTL") == 0) {
        id_ = grant();
        replaced_ = false;
    }
    if (replaced_) return true;
    const bool goes_on = replace(id_);
    replaced_ = true;
    return goes_on;
}

}  // namespace svc::etcd

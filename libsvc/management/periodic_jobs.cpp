#include "libsvc/management/periodic_jobs.h"

#include <chrono>

namespace svc {

namespace {

std::function<Duration()> every(std::chrono::seconds interval) {
    return [interval] { return Duration(interval); };
}

}  // namespace

std::vector<PeriodicJob> periodic_jobs(const PeriodicWork& work) {
    using namespace std::chrono_literals;
    return {
        {"forget-operations", every(10s), [work](const std::stop_token&) { work.engine.sweep(); }},
        {"expire-instances", every(5s),
         [work](const std::stop_token&) { work.instances.reconciler().expire(); }},
        {"reconcile", every(60s),
         [work](const std::stop_token&) { work.instances.reconciler().reconcile(); }},
        {"collect-garbage", every(10min), [work](const std::stop_token&) { work.content.collect_garbage(); }},
        {"expire-join-tokens", every(60s),
         [work](const std::stop_token&) { work.certificates.expire_tokens(); }},
    };
}

}  // namespace svc

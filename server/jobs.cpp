#include "server/jobs.h"

namespace svc::server {

namespace {

std::function<Duration()> every(std::chrono::seconds interval) {
    return [interval] { return Duration(interval); };
}

}  // namespace

std::vector<PeriodicJob> periodic_jobs(const Services& services, Content& content) {
    using namespace std::chrono_literals;
    return {
        {"forget-operations", every(10s), [services](const std::stop_token&) { services.engine.sweep(); }},
        {"expire-instances", every(5s), [services](const std::stop_token&) { services.instances.expire(); }},
        {"reconcile", every(60s), [services](const std::stop_token&) { services.instances.reconcile(); }},
        {"collect-garbage", every(10min), [&content](const std::stop_token&) { content.collect_garbage(); }},
        {"expire-join-tokens", every(60s),
         [services](const std::stop_token&) { services.certificates.expire_tokens(); }},
    };
}

}  // namespace svc::server

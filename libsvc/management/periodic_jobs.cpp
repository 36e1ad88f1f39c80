#include "libsvc/management/periodic_jobs.h"

#include <chrono>

#include "libsvc/management/management_service.h"

namespace svc {

namespace {

std::function<Duration()> every(std::chrono::seconds interval) {
    return [interval] { return Duration(interval); };
}

}  // namespace

std::vector<PeriodicJob> periodic_jobs(ManagementService& service) {
    using namespace std::chrono_literals;
    return {
        {"forget-operations", every(10s), [&service](const std::stop_token&) { service.engine().sweep(); }},
        {"expire-instances", every(5s),
         [&service](const std::stop_token&) { service.instances().reconciler().expire(); }},
        {"keep-pools", every(1s), [&service](const std::stop_token&) { service.instances().pools().keep(); }},
        {"follow-nodes", every(60s), [&service](const std::stop_token&) { service.nodes().follow(); }},
        {"reconcile", every(60s),
         [&service](const std::stop_token&) { service.instances().reconciler().reconcile(); }},
        {"orphaned-snapshots", every(60s),
         [&service](const std::stop_token&) { service.snapshots().remove_orphans(); }},
        {"collect-garbage", every(10min),
         [&service](const std::stop_token&) { service.content().collect_garbage(); }},
        {"keep-copies", every(60s), [&service](const std::stop_token&) { service.content().keep_copies(); }},
        {"expire-join-tokens", every(60s),
         [&service](const std::stop_token&) { service.certificates().expire_tokens(); }},
        {"end-sessions", every(10s),
         [&service](const std::stop_token&) { service.sessions().remove_ended(); }},
    };
}

}  // namespace svc

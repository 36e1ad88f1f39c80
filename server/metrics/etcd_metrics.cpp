#include "server/metrics/etcd_metrics.h"

#include <utility>
#include <vector>

namespace svc::server {

namespace {

const std::vector<double> answer_bounds{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2};

void write(std::string& out, const EtcdCounts& counts) {
    const auto family = [&out](std::string_view name, std::string_view help, std::string_view type,
                               auto value) { MetricFamily(out, name, help, type).add("", value); };
    family("svc_etcd_transactions_total", "transactions sent to etcd for changes of records", "counter",
           counts.transactions);
    family("svc_etcd_commits_total", "changes of records that etcd has stored", "counter", counts.commits);
    family("svc_etcd_conflicts_total", "changes that were based on records that had changed", "counter",
           counts.conflicts);
    family("svc_etcd_requests_failed_total", "requests that a member of etcd did not answer", "counter",
           counts.requests_failed);
    family("svc_etcd_lease_renewals_failed_total", "attempts to keep the lease that failed", "counter",
           counts.renewals_failed);
    family("svc_etcd_lease_age_seconds", "since the lease was renewed last", "gauge",
           std::chrono::duration<double>(counts.lease_age).count());
    family("svc_etcd_revision", "newest revision of etcd, as its answers tell", "gauge", counts.newest);
    family("svc_store_revision", "revision up to which this manager knows the records", "gauge", counts.told);
}

}  // namespace

EtcdMetrics::EtcdMetrics(MetricsRegistry& registry)
    : registry_(registry),
      took_(registry.histogram("svc_etcd_request_duration_seconds", "until a member of etcd answers",
                               answer_bounds)) {}

void EtcdMetrics::follow(std::function<EtcdCounts()> counts) {
    registry_.add_collector([counts = std::move(counts)](std::string& out) { write(out, counts()); });
}

}  // namespace svc::server

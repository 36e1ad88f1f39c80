#pragma once
// The metrics svc_etcd_* and svc_store_revision: what a store in etcd asks of it, and how far it follows.
#include <functional>

#include "libsvc/base/metrics.h"
#include "libsvc/store/etcd/counts.h"

namespace svc::server {

// Thread-safe. It registers a collector: nothing may render the registry after this object is destroyed.
class EtcdMetrics {
  public:
    explicit EtcdMetrics(MetricsRegistry& registry);
    void answered(Duration took) { took_.observe(std::chrono::duration<double>(took).count()); }
    void follow(std::function<EtcdCounts()> counts);  // of the store; once

  private:
    MetricsRegistry& registry_;
    Histogram& took_;
};

}  // namespace svc::server

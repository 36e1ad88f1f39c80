#pragma once
// Builds the objects of svc-metrics and connects them.
#include <string>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/net/server/server.h"
#include "server/metrics-agent/collector.h"
#include "server/metrics-agent/service.h"
#include "server/metrics-agent/udp_receiver.h"

namespace svc::metrics_agent {

struct Options {
    std::string listen = "0.0.0.0:8095";          // UDP, and HTTP on the same number
    std::string metrics_listen = "0.0.0.0:9273";  // HTTP
    SampleLimits limits;
};

// Serves from its construction to its destruction. Throws busy for an address in use.
class Agent {
  public:
    Agent(const Options& options, const Clock& clock);
    const std::string& write_address() const { return write_address_; }    // "127.0.0.1:8095"
    const std::string& scrape_address() const { return scrape_address_; }  // "127.0.0.1:9273"

  private:
    Collector collector_;
    Service service_;
    ThreadPool workers_;
    HttpServer server_;
    std::string write_address_, scrape_address_;
    UdpReceiver receiver_;
};

}  // namespace svc::metrics_agent

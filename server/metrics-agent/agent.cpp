#include "server/metrics-agent/agent.h"

#include "libsvc/base/error.h"

namespace svc::metrics_agent {

namespace {

ServerLimits server_limits() {
    ServerLimits limits;
    limits.max_connections = 1000;
    limits.max_websockets = 0;
    limits.uploads_at_once = 0;
    // A batch of each connection fits.
    limits.untrusted_bytes = limits.untrusted_bytes_each = limits.buffered_bytes;
    return limits;
}

// Instances may come by the address of one host. They leave room for who collects.
ListenerLimits writers() {
    ListenerLimits limits;
    limits.standing = [](const Peer&) { return Standing::untrusted; };
    limits.untrusted = 900;
    limits.each = 600;
    return limits;
}

}  // namespace

Agent::Agent(const Options& options, const Clock& clock)
    : collector_(clock, options.limits),
      service_(collector_),
      workers_("metrics", 2, 1000),
      server_(service_, workers_, server_limits(), 1),
      write_address_(with_context("listen",
                                  [&] {
                                      return server_.listen_tcp(std::string(write_listener), options.listen,
                                                                nullptr, writers());
                                  })),
      scrape_address_(with_context(
          "metrics-listen",
          [&] { return server_.listen_tcp(std::string(scrape_listener), options.metrics_listen, nullptr); })),
      // With port 0 in `listen`: the port that HTTP got.
      receiver_(write_address_, [this](std::string_view datagram, std::string_view source) {
          collector_.take(datagram, source, Collector::Transport::udp);
      }) {
    server_.start();
}

}  // namespace svc::metrics_agent

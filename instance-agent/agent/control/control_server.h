#pragma once
// Serves the instance-local control API on its Unix socket: peers root and uid 1000 alone (and who runs the
// agent), every path with or without a slash at its end, unknown paths and methods 400 "API endpoint does not
// exist" (facts 1.1, 1.2).
#include <filesystem>
#include <memory>
#include <vector>

#include "libsvc/base/metrics.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// Thread-safe. The routes come from the devices: each gives its own (Access::everyone; the socket has checked
// the peer). The metrics outlive it.
class ControlServer {
  public:
    ControlServer(const std::filesystem::path& socket, std::vector<Route> routes, MetricsRegistry& metrics);
    ~ControlServer();  // answers what runs, at most 2 s

    std::size_t connections() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc::agent

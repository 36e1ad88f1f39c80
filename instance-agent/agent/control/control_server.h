#pragma once
// Serves the instance-local control API on its Unix socket (docs/guest-interface.md, Control API). Only root,
// uid 1000 and the user that runs the agent may connect. A path may end with a slash. An unknown path or
// method is answered with 400 "API endpoint does not exist".
#include <filesystem>
#include <memory>
#include <vector>

#include "libsvc/base/metrics.h"
#include "libsvc/net/http/router.h"

namespace svc::agent {

// Thread-safe. Each device gives its routes; they have Access::everyone, because the socket checks the peer.
// `metrics` outlives the server.
class ControlServer {
  public:
    ControlServer(const std::filesystem::path& socket, std::vector<Route> routes, MetricsRegistry& metrics);
    ~ControlServer();  // gives running requests at most 2 s to end

    std::size_t connections() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc::agent

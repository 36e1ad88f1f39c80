#pragma once
// Commands that run as the only program of a container that does not run otherwise.
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/containers/container_runs.h"
#include "libsvc/runtime/lxc/containers/container_table.h"
#include "libsvc/runtime/lxc/host/host.h"

namespace svc::lxc {

// Thread-safe; keeps no state of its own. The command that runs in a container is in Container::once.
class OnceCommands {
  public:
    OnceCommands(Host& host, ContainerTable& containers, ContainerRuns& runs)
        : host_(host), containers_(containers), runs_(runs) {}

    // Runtime::run_once(). The container is not locked while the command runs: a thread that starts, stops or
    // removes the container ends the command, and this call throws cancelled.
    int run(const std::string& id, const std::vector<std::string>& command, Duration limit,
            const std::stop_token& stop);

  private:
    std::shared_ptr<RunHandles> begin(const std::string& id, Container& container,
                                      const std::vector<std::string>& command);
    RunHandles start_helper(const std::string& id, const std::vector<std::string>& command, RunRecord run);
    int result(const std::string& id, const std::string& command) const;

    Host& host_;
    ContainerTable& containers_;
    ContainerRuns& runs_;
};

}  // namespace svc::lxc

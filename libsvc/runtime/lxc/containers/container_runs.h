#pragma once
// What runs in the containers: start, stop, and the notice of an end that nobody asked for.
#include <functional>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/containers/container_end.h"
#include "libsvc/runtime/lxc/containers/container_table.h"
#include "libsvc/runtime/lxc/host/host.h"
#include "libsvc/runtime/lxc/processes/supervisor.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Each running container takes three descriptors of the daemon. Throws exhausted when those that are left are
// needed to serve requests.
void check_descriptors(const std::string& id);

// Thread-safe. Owns the Supervisor, whose thread calls back while this object lives.
class ContainerRuns {
  public:
    ContainerRuns(Host& host, ContainerTable& containers, const Clock& clock);

    void listen(std::function<void(const RuntimeEvent&)> listener);  // one; called on the supervisor's thread
    const Supervisor& supervisor() const { return supervisor_; }

    // All that follow: with the container locked.

    // Whether a guest runs. Corrects records that are out of date: an end that was not noticed yet, a start
    // that outlived the daemon that began it. Ends a command that an earlier daemon left running.
    bool is_running(const std::string& id, Container& container);
    // The run that the kernel and run.json agree on, of a guest or of run_once(); nothing: none.
    std::optional<RunRecord> find_run(const std::string& id);
    void start(const std::string& id, Container& container);  // of one that does not run
    void follow(const std::string& id, const Container& container, const RunRecord& run);
    void stop(const std::string& id, Container& container, Duration grace);
    // For a container that is being removed: see ContainerEnd::kill().
    FileDescriptor kill(const std::string& id, Container& container);
    void end_once(const std::string& id, Container& container);  // kills the command of run_once(), if any
    ContainerEnd& container_end() { return container_end_; }

  private:
    std::optional<RunHandles> take_running(const std::string& id, Container& container);
    HaltSignals halt_signals(const Container& container, Duration grace) const;
    bool wants_agent(const Container& container) const;

    // Callbacks of the supervisor, on its thread. False: the container is locked, call again.
    bool on_end(const std::string& id);
    bool on_change(const std::string& id);

    Host& host_;
    ContainerTable& containers_;
    const Clock& clock_;
    Guarded<std::function<void(const RuntimeEvent&)>> listener_;
    ContainerEnd container_end_;
    Supervisor supervisor_;  // last: its thread uses all above
};

}  // namespace svc::lxc

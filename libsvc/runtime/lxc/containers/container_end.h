#pragma once
// Ends the processes of one container and removes what it used on the host: mounts, devices, groups, rules.
// Its folder stays.
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/host/host.h"
#include "libsvc/runtime/lxc/processes/supervisor.h"

namespace svc::lxc {

// The pidfds of a recorded run; empty where a process is gone. Throws where the kernel cannot be asked.
RunHandles open_run(const RunRecord& run);

// Any thread, with the container locked. Blocks until the processes are gone: at most the grace time and
// about half a minute.
class ContainerEnd {
  public:
    ContainerEnd(Host& host, const Supervisor& supervisor) : host_(host), supervisor_(supervisor) {}

    // Sends the halt signals, waits for `grace`, kills, cleans up, and records that the run is over. Without
    // halt signals: kills at once. An init that only sleeps on is not waited for: docs/runtime.md, "Ending".
    void end(const std::string& id, const RunHandles& run, const HaltSignals& halt, Duration grace);
    // For a container that is being removed: kills monitor and init together and leaves to the kernel what
    // the monitor would do first, step by step. Returns the root file system to be unmounted later (empty:
    // done).
    FileDescriptor kill(const std::string& id, const RunHandles& run);
    // What end() does when no process is left.
    void record_stop(const std::string& id, RunRecord run);

  private:
    // False: it is to be killed, as the grace time is over or the init has nothing left to do.
    bool shuts_down(const std::string& id, const RunHandles& run, const HaltSignals& halt,
                    Duration grace) const;
    bool only_sleeps(const std::string& id, pid_t init) const;
    void kill_present_init(const std::string& id) const;

    Host& host_;
    const Supervisor& supervisor_;
};

}  // namespace svc::lxc

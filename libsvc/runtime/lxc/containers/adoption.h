#pragma once
// Taking over the containers that an earlier daemon left. A container that cannot be read stays as it is,
// however long that takes: its disk may be the only copy of its data (docs/runtime.md, "What cannot be
// read").
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/timer.h"
#include "libsvc/runtime/lxc/containers/container_runs.h"
#include "libsvc/runtime/lxc/containers/container_table.h"
#include "libsvc/runtime/lxc/host/host.h"

namespace svc::lxc {

// Owns the timer whose thread retries unreadable containers: after 1 s, then later and later up to 60 s.
class Adoption {
  public:
    Adoption(Host& host, ContainerTable& containers, ContainerRuns& runs);

    // At start-up, before any other call: adopts every container, removes leftovers, makes the network rules.
    void adopt_all();
    // Both with the container locked. kill(): ends whatever of an unreadable container can be found.
    void kill(const std::string& id);
    void clear_fault(Container& container);
    // Makes a container readable again whose specification is lost. Throws what keeps it unreadable.
    void recreate_spec(Container& container, const ContainerSpec& spec);

  private:
    void adopt(const std::string& id);
    void adopt_later(const std::string& id, const ContainerPtr& container);

    // With the container locked.
    void try_adopting(const std::string& id, Container& container);
    void adopt_readable(const std::string& id, Container& container, StoredSpec stored);
    void follow(const std::string& id, const Container& container, const RunRecord& run);
    void remove_leftover(const std::string& id);
    void set_fault(const std::string& id, Container& container, const std::string& reason);
    bool is_leftover(const std::string& id, const Container& container) const;

    Host& host_;
    ContainerTable& containers_;
    ContainerRuns& runs_;
    SystemClock timer_clock_;
    Timer retries_;  // last: its thread uses all above
};

}  // namespace svc::lxc

#pragma once
// The control groups of one container, made, limited and given to the guest before it runs. Not thread-safe;
// throws LaunchFailure.
#include <sys/types.h>

#include <string>
#include <vector>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

class Groups {
  public:
    // Makes the groups in all hierarchies of the plan, sets the limits and gives the guest what it may have.
    explicit Groups(const Plan& plan);

    // Of version 2, for clone3(); -1: the machine has none.
    int version_2() const;
    // Moves the process into the groups of version 1.
    void enter(pid_t process) const;

    // Moves the calling process, the monitor, where a service manager looks: it would take one in the
    // daemon's group for a part of the daemon.
    static void enter_monitor_group(const Plan& plan);
    // Removes the groups of an init that has ended, with those that the guest has made in them: where it has
    // divided its group of version 2, that takes no process. A group that has one yet, of a command on its
    // way into the container, stays.
    static void remove(const Plan& plan);
    // Those of a container that runs.
    static Groups existing(const Plan& plan);
    // Moves the process into all of them. Where a guest has divided its group of version 2, that takes no
    // process itself: then into one beneath it.
    void enter_all(pid_t process) const;

  private:
    Groups() = default;
    struct Group {
        const Hierarchy* hierarchy;
        Descriptor folder;
    };
    void limit(const GroupLimit& limit) const;
    void delegate(const Group& group, unsigned owner) const;

    std::vector<Group> groups_;
};

}  // namespace svc::lxc

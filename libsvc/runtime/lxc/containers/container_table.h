#pragma once
// The containers of this daemon, by id.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/processes/supervisor.h"
#include "libsvc/runtime/lxc/records.h"

namespace svc::lxc {

// One container. Lock `mutex` to read or change anything of it; it is held during create, start, stop and
// remove, so that these do not mix. The pids of a running one are in the Supervisor.
struct Container {
    std::mutex mutex;
    StoredSpec stored;
    bool exists = false;     // made and not removed
    bool started = false;    // at least once since it was made
    bool fresh = false;      // made by this daemon, and not started yet: nothing of it can run
    std::string fault;       // why it is unreadable; "": it is readable
    bool spec_lost = false;  // it is unreadable because spec.json is missing or damaged
    unsigned attempts = 0;   // to adopt it, while it is unreadable
    // Its disk is being copied, which takes long: it has stopped, and `mutex` is held. Read without the lock.
    std::atomic<bool> copying{false};
    std::shared_ptr<RunHandles> once;  // the command of run_once(); who takes it out of here ends the command
};
using ContainerPtr = std::shared_ptr<Container>;
using ContainerLock = std::unique_lock<std::mutex>;

// Throws unavailable "container '<id>' cannot be read: ...". With the container locked.
void check_readable(const std::string& id, const Container& container);

// Thread-safe. A removed container leaves the table while other threads may still wait for its lock: they
// find `exists` false, or another container under the id.
class ContainerTable {
  public:
    ContainerPtr find(const std::string& id) const;  // null pointer: unknown
    ContainerPtr get(const std::string& id) const;   // throws not_found
    ContainerPtr find_or_add(const std::string& id);
    void erase(const std::string& id, const ContainerPtr& container);  // only while the id has this container
    std::map<std::string, ContainerPtr> all() const;

  private:
    Guarded<std::map<std::string, ContainerPtr>> containers_;
};

}  // namespace svc::lxc

#pragma once
// The seam to what joins the machines below a runtime to one: the cluster of LXD. docs/runtime-lxd.md,
// "Forming the cluster".
#include <string>

namespace svc {

// Thread-safe; calls block, and throw unavailable where the machines cannot be reached.
class MachineCluster {
  public:
    virtual ~MachineCluster() = default;
    // The storage pool that all machines share by name and driver.
    struct Pool {
        std::string name, driver;  // "svc0", "btrfs"
    };
    virtual Pool pool() = 0;
    // Takes a machine out. What runs containers there is empty and alone afterwards; throws conflict while it
    // has some. One that is no member is out already. One that is known to be dead is not asked, and stays as
    // it is; `force`: nor is one that cannot be reached.
    virtual void remove(const std::string& machine, bool force) = 0;
};

}  // namespace svc

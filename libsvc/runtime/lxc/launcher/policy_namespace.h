#pragma once
// The namespace of a container's AppArmor policies: what its root loads there holds for its processes alone.
#include <optional>
#include <string>

#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

// Is there as long as this object, and empty at first: what a killed monitor has left is removed. Without a
// confinement there is none. The constructor throws LaunchFailure.
class PolicyNamespace {
  public:
    explicit PolicyNamespace(const std::optional<Confinement>& confinement);
    ~PolicyNamespace();
    PolicyNamespace(const PolicyNamespace&) = delete;
    PolicyNamespace& operator=(const PolicyNamespace&) = delete;

  private:
    std::string folder_;  // empty: none
};

}  // namespace svc::lxc

#pragma once
// System calls that a container is refused, from the profile that the runtime writes (container/seccomp.h).
// Throws LaunchFailure.
#include <memory>
#include <string>

namespace svc::lxc {

// Made before the root changes, loaded as the last step before a program is executed. Loading needs
// CAP_SYS_ADMIN in the user namespace and leaves setuid programs working.
class RefusedCalls {
  public:
    explicit RefusedCalls(const std::string& file);
    void load() const;

  private:
    struct Release {
        void operator()(void* filter) const;
    };
    std::unique_ptr<void, Release> filter_;
};

}  // namespace svc::lxc

#pragma once
// What a program of the container is held to from its execution on: the label of AppArmor and the refused
// system calls. Throws LaunchFailure.
#include <string>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/plan.h"
#include "libsvc/runtime/lxc/launcher/refused_calls.h"

namespace svc::lxc {

class Restrictions {
  public:
    // Where the host's /proc is seen: that of a running container is its root's to change, who could have the
    // label written to a file of his own.
    explicit Restrictions(const Plan& plan);
    // Of this process, which is root of the container and executes the program next.
    void apply() const;

  private:
    RefusedCalls refused_;
    Descriptor proc_;     // none: AppArmor does not confine
    std::string change_;  // for the kernel: the label of the next execution
};

}  // namespace svc::lxc

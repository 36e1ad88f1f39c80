#include "libsvc/runtime/lxc/launcher/restrictions.h"

namespace svc::lxc {

Restrictions::Restrictions(const Plan& plan) : refused_(plan.seccomp) {
    if (!plan.confinement) return;
    proc_ = opened(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY, "cannot open");
    // A stack of two: the guest sees and changes the second, which begins unconfined, and stays held to the
    // first.
    change_ =
        "exec " + plan.confinement->profile + "//&:" + plan.confinement->policy_namespace + ":unconfined";
}

// The kernel refuses a label whose profile or namespace is not there.
void Restrictions::apply() const {
    if (proc_) write_text(proc_.get(), "self/attr/apparmor/exec", change_);
    refused_.load();
}

}  // namespace svc::lxc

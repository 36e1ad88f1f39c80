#include "libsvc/runtime/lxc/launcher/policy_namespace.h"

#include <sys/stat.h>
#include <unistd.h>

#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "libsvc/runtime/lxc/launcher/descriptor.h"

namespace svc::lxc {

PolicyNamespace::PolicyNamespace(const std::optional<Confinement>& confinement) {
    if (!confinement) return;
    const std::string folder = std::string(policy_namespaces) + "/" + confinement->policy_namespace;
    ::rmdir(folder.c_str());
    check(::mkdir(folder.c_str(), 0755), "cannot make '" + folder + "'");
    folder_ = folder;
}

PolicyNamespace::~PolicyNamespace() {
    if (!folder_.empty()) ::rmdir(folder_.c_str());
}

}  // namespace svc::lxc

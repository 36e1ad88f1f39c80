#pragma once
// AppArmor of this machine, for guests that svc-launch starts. Throws Error.
#include <string>

#include "libsvc/runtime/lxc/container/config.h"

namespace svc::lxc {

constexpr const char* apparmor_parser = "/sbin/apparmor_parser";

// Writes the profile of the daemon's guests to the state directory and gives it to the kernel. Guests that
// run are held to it from then on, too. Takes a tenth of a second.
void load_guest_profile(const ConfigContext& context);
// Where one is loaded. No guest may run: the kernel leaves processes of the profile unconfined.
void unload_profile(const std::string& name);
// Of a container without processes, if it is there, with the profiles that the guest has loaded.
void remove_policy_namespace(const std::string& name);

}  // namespace svc::lxc

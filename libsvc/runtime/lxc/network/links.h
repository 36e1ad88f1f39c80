#pragma once
// Network interfaces of the host: the bridge, and what is left of a container's device. Ioctls and rtnetlink.
#include <cstdint>
#include <string>

#include "libsvc/runtime/lxc/network/addresses.h"

namespace svc::lxc {

bool link_exists(const std::string& name);
bool is_bridge(const std::string& name);
// Makes what is missing: the bridge with a fixed hardware address, its IPv4 address, its MTU; sets it up.
void ensure_bridge(const std::string& name, const Subnet& subnet, unsigned mtu);
void remove_bridge(const std::string& name);  // absent is fine
// Out of its bridge, which forgets what was behind it. One that is gone, or in no bridge, is fine.
void detach_link(const std::string& bridge, const std::string& name);
void remove_link(const std::string& name);  // absent is fine

}  // namespace svc::lxc

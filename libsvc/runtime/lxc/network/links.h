#pragma once
// Network interfaces of the host: the bridge, and the host's end of a container's device. By ioctl and
// rtnetlink. Any thread; functions throw Error with the reason.
#include <cstdint>
#include <string>

#include "libsvc/runtime/lxc/network/addresses.h"

namespace svc::lxc {

bool link_exists(const std::string& name);
bool is_bridge(const std::string& name);
// Makes the bridge with the hardware address of its IPv4 address and without IPv6, sets address and MTU, and
// sets it up. No frame that guests send passes it unseen by rules.
void ensure_bridge(const std::string& name, const Subnet& subnet, unsigned mtu);
// The host takes no IPv6 from the interface, and has no address of it. Does nothing where the kernel has
// none.
void switch_ipv6_off(const std::string& name);
// Removing or detaching does nothing when the interface does not exist.
void remove_bridge(const std::string& name);
// Takes the interface out of its bridge, which then forgets the hardware addresses behind it.
void detach_link(const std::string& bridge, const std::string& name);
void remove_link(const std::string& name);

}  // namespace svc::lxc

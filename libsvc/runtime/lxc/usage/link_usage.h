#pragma once
// Traffic of network devices. Pure functions.
#include <map>
#include <string>
#include <string_view>

#include "libsvc/runtime/usage.h"

namespace svc::lxc {

// Counters by device, from the text of /proc/net/dev. `device` of the values is not set.
std::map<std::string, NetworkUsage, std::less<>> parse_devices(std::string_view text);

// The counters of the container's end of a veth pair: what one end has sent, the other has received.
NetworkUsage other_end(const NetworkUsage& host, std::string device);

}  // namespace svc::lxc

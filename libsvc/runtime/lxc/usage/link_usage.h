#pragma once
// Traffic of network devices. Pure.
#include <map>
#include <string>
#include <string_view>

#include "libsvc/runtime/usage.h"

namespace svc::lxc {

// By device, from the text of /proc/net/dev. `device` of the values is not set.
std::map<std::string, NetworkUsage, std::less<>> parse_devices(std::string_view text);

// What one end of a pair has sent, the other has received.
NetworkUsage other_end(const NetworkUsage& host, std::string device);

}  // namespace svc::lxc

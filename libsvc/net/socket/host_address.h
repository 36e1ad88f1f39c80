#pragma once
// Names of hosts for those who cannot look them up.
#include <string>

namespace svc {

// The number of a host, of IPv4 if it has one. Blocks for as long as the system's name services do. Throws
// unavailable.
std::string host_address(const std::string& host);

}  // namespace svc

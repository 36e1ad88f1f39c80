#pragma once
// Looks up a host for a program that cannot: the statically linked agent has no name services.
#include <string>

namespace svc {

// An address of the host as text, of IPv4 if it has one. Blocks for as long as the system's name services do.
// Throws unavailable.
std::string host_address(const std::string& host);

}  // namespace svc

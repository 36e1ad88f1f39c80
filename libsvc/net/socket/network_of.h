#pragma once
// Who is counted as one peer over TCP.
#include <string>
#include <string_view>

namespace svc {

// The address; of IPv6 the network ("2001:db8:1:2::/64"), because one machine can use every address of it.
std::string network_of(std::string_view address);

}  // namespace svc

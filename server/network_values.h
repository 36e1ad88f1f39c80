#pragma once
// Values of the configuration about the network of instances. All throw invalid_argument as those in
// process/setting_values.h do.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/runtime/lxc/options.h"

namespace svc::server {

// One or a list of "4000/tcp" and "5000-5010/udp"; "none" gives {}.
std::vector<GuestPorts> read_guest_ports(std::string_view key, const Json& value);
// One or a list of IPv4 addresses, four at most; "none" gives {}.
std::vector<std::string> read_name_servers(std::string_view key, const Json& value);
// Bits a second: "800Kbit", "100Mbit", "1Gbit" (powers of 1000); "none" gives 0.
std::uint64_t read_bandwidth(std::string_view key, const Json& value);
std::string read_network(std::string_view key, const Json& value);  // "10.64.0.0/12", a prefix from 8 to 30
bool read_yes_no(std::string_view key, const Json& value);          // "yes", "no", true or false

}  // namespace svc::server

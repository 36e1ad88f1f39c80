#pragma once
// The addresses of this machine, for a gateway whose configuration names none.
#include <string>
#include <string_view>
#include <vector>

namespace svc::gateway {

std::string host_name();
std::vector<std::string> machine_addresses();  // of interfaces that are up, without the loopback; IPv4 first
// The address of this gateway for instances when the configuration has none: "https://192.0.2.1:4000" for
// "[::]:4000"; when it listens on one address only, that one.
std::string own_url(std::string_view listening_at);

}  // namespace svc::gateway

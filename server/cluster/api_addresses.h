#pragma once
// Where others reach what a manager listens on.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/store/membership.h"

namespace svc::server {

// Nobody connects to a wildcard: `own`, the machine's address, stands for it in "0.0.0.0:8445" and
// "[::]:8445". Throws invalid_argument where that is "".
std::string address_for_others(const std::string& listening, const std::string& own);

// The host of "10.77.0.11:8445" or "[fd00::1]:8445", without brackets.
std::string host_in(std::string_view address);

// Manager::api of a manager that listens on these URLs ("https://[::]:8444") and that other managers reach
// at the host `own`. Loopback addresses are of one machine alone, and are left out.
std::vector<std::string> api_for_others(const std::vector<std::string>& urls, const std::string& own);

// The API of every living manager, by name.
std::vector<std::string> api_of_all(const Membership& membership);

}  // namespace svc::server

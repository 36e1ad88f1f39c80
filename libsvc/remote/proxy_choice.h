#pragma once
// Internal to this folder: the proxy for a server (settings core.proxy_*).
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/net/client/target.h"

namespace svc {

// Entries of `ignored`: a host, a domain with all below it ("example.com" and ".example.com" are alike), or
// "*".
bool bypasses_proxy(std::string_view host, const std::vector<std::string>& ignored);
// Throws invalid_argument for a proxy that is no URL.
Target by_proxy(Target target, const std::string& proxy_http, const std::string& proxy_https,
                const std::vector<std::string>& ignored);

}  // namespace svc

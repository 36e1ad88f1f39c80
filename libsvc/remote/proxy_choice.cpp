#include "libsvc/remote/proxy_choice.h"

#include <algorithm>

#include "libsvc/base/strings.h"

namespace svc {

bool bypasses_proxy(std::string_view host, const std::vector<std::string>& ignored) {
    const std::string wanted = to_lower(host);
    return std::any_of(ignored.begin(), ignored.end(), [&wanted](const std::string& entry) {
        if (entry == "*") return true;
        const std::string domain = to_lower(entry.starts_with('.') ? entry.substr(1) : entry);
        return !domain.empty() && (wanted == domain || wanted.ends_with("." + domain));
    });
}

Target by_proxy(Target target, const std::string& proxy_http, const std::string& proxy_https,
                const std::vector<std::string>& ignored) {
    const std::string& proxy = target.tls ? proxy_https : proxy_http;
    if (!proxy.empty() && !bypasses_proxy(target.host, ignored)) target.proxy = Proxy::parse(proxy);
    return target;
}

}  // namespace svc

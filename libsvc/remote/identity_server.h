#pragma once
// The seam to an OpenID provider: documents that are read, and one form that is sent (docs/oidc.md; the
// settings oidc.* and core.proxy_*).
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace svc {

// Thread-safe. Blocks, for 10 s at most besides looking up the host and connecting. URLs must be such that
// is_provider_url() takes. Throws unavailable, forbidden, not_found or invalid_argument that names the
// provider.
class IdentityServer {
  public:
    virtual ~IdentityServer() = default;
    virtual std::string get(const std::string& url) = 0;
    // `authorization`: the value of the header; "": none.
    virtual std::string post_form(const std::string& url, const std::string& authorization,
                                  const std::string& form) = 0;
};

struct IdentityServerOptions {
    std::string authorities{};  // PEM; "": those of the system
    std::string proxy_http{}, proxy_https{};
    std::vector<std::string> proxy_ignore_hosts{};
    bool operator==(const IdentityServerOptions&) const = default;
};
std::unique_ptr<IdentityServer> open_identity_server(const IdentityServerOptions& options);
// The function above, or the double of a test.
using IdentityServerFactory = std::function<std::unique_ptr<IdentityServer>(const IdentityServerOptions&)>;

}  // namespace svc

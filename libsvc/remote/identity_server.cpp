#include "libsvc/remote/identity_server.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/oidc.h"
#include "libsvc/remote/proxy_choice.h"
#include "libsvc/remote/remote_http.h"

namespace svc {

namespace {

constexpr std::chrono::seconds call_limit{10};
constexpr std::size_t max_document_bytes = 256U << 10;

class HttpIdentityServer final : public IdentityServer {
  public:
    explicit HttpIdentityServer(IdentityServerOptions options) : options_(std::move(options)) {}

    std::string get(const std::string& url) override { return call(url, {}); }

    std::string post_form(const std::string& url, const std::string& authorization,
                          const std::string& form) override {
        ClientRequest request;
        request.method = Method::post;
        request.headers.set("Content-Type", "application/x-www-form-urlencoded");
        if (!authorization.empty()) request.headers.set("Authorization", authorization);
        request.body = form;
        return call(url, std::move(request));
    }

  private:
    std::string call(const std::string& url, ClientRequest request) const {
        if (!is_provider_url(url))
            throw Error(ErrorCode::invalid_argument,
                        "OpenID provider names the URL " + quoted(url) + ": it must have https://");
        const auto path = url.find_first_of("/?", url.find("//") + 2);
        Target target = Target::parse(url.substr(0, path));
        target.authorities_text = options_.authorities;
        request.path = path == std::string::npos ? "/" : url.substr(path);
        if (request.path.starts_with('?')) request.path.insert(0, "/");
        request.headers.set("Accept", "application/json");
        request.limit = call_limit;
        request.max_reply = max_document_bytes;
        const RemoteHttp server("OpenID provider",
                                by_proxy(std::move(target), options_.proxy_http, options_.proxy_https,
                                         options_.proxy_ignore_hosts));
        return server.call(std::move(request)).body;
    }

    IdentityServerOptions options_;
};

}  // namespace

std::unique_ptr<IdentityServer> open_identity_server(const IdentityServerOptions& options) {
    return std::make_unique<HttpIdentityServer>(options);
}

}  // namespace svc

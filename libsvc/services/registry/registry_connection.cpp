#include "libsvc/services/registry/registry_connection.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

bool RegistryConnection::is_trusted(const std::string& fingerprint) const {
    try {
        return certificates_.get(fingerprint)->fingerprint == fingerprint;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return false;
    }
}

void RegistryConnection::check_configured() const {
    const ConfigValues config = config_.values();
    const std::string url = config.text("registry.url");
    if (url.empty()) throw Error(ErrorCode::invalid_argument, "registry not configured");
    if (url.starts_with("file://")) return;
    const std::string fingerprint = to_lower(config.text("registry.fingerprint"));
    if (fingerprint.empty() || !is_trusted(fingerprint))
        throw Error(ErrorCode::invalid_argument, "registry certificate is not trusted");
}

void RegistryConnection::check_mode(std::string_view action, std::string_view forbidden_mode) const {
    check_configured();
    if (mode() == forbidden_mode)
        throw Error(ErrorCode::invalid_argument, std::string(action) + " not allowed");
}

std::unique_ptr<Catalogue> RegistryConnection::open() const {
    check_configured();
    const ConfigValues config = config_.values();
    CatalogueOptions options;
    options.url = config.text("registry.url");
    options.fingerprint = to_lower(config.text("registry.fingerprint"));
    options.certificate = keys_ / "client.crt";
    options.key = keys_ / "client.key";
    options.proxy_http = config.text("core.proxy_http");
    options.proxy_https = config.text("core.proxy_https");
    options.proxy_ignore_hosts = config.list("core.proxy_ignore_hosts");
    return open_(options);
}

}  // namespace svc

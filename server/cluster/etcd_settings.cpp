#include "server/cluster/etcd_settings.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/target.h"
#include "server/process/setting_values.h"

namespace svc::server {

namespace {

constexpr std::size_t id_bytes = 16;

void check_endpoint(std::string_view key, const std::string& endpoint) {
    if (!endpoint.starts_with("http://") && !endpoint.starts_with("https://"))
        throw_invalid(key, quoted(endpoint) + " does not begin with http:// or https://");
    try {
        Target::parse(endpoint);
    } catch (const Error& e) {
        throw_invalid(key, e.what());
    }
}

std::optional<KeyPair> identity_of(const EtcdSettings& etcd) {
    if (etcd.certificate.empty() != etcd.key.empty())
        throw Error(ErrorCode::invalid_argument, "etcd_cert and etcd_key must be given together");
    if (etcd.certificate.empty()) return std::nullopt;
    return KeyPair{etcd.certificate, etcd.key};
}

}  // namespace

std::vector<std::string> read_etcd_endpoints(std::string_view key, const Json& value) {
    std::vector<std::string> endpoints;
    if (value.is_array())
        for (const Json& item : value.as_array()) endpoints.push_back(process::read_text(key, item));
    else
        endpoints = split(process::read_text(key, value), ',');
    for (const std::string& endpoint : endpoints) check_endpoint(key, endpoint);
    if (endpoints.empty()) throw_invalid(key, "must name an address");
    return endpoints;
}

EtcdOptions etcd_connection(const EtcdSettings& settings) {
    EtcdOptions etcd;
    etcd.endpoints = settings.endpoints;
    etcd.authorities = settings.authorities;
    etcd.identity = identity_of(settings);
    return etcd;
}

std::string member_id(const std::filesystem::path& file) {
    if (!is_there(file)) write_file_atomically(file, to_hex(random_bytes(id_bytes)) + "\n", 0600);
    std::string id(trim(read_file(file)));
    if (id.size() != 2 * id_bytes || id.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw Error(ErrorCode::internal,
                    file.filename().string() + " in the state directory is damaged: remove it");
    return id;
}

}  // namespace svc::server

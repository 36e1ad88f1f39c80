// Calls about the service itself: trust, configuration, nodes, images from elsewhere.
#include "libsvc/base/strings.h"
#include "libsvc/client/api_client.h"
#include "libsvc/client/api_paths.h"

namespace svc {

using client::item;
using client::items;

JsonArray ApiClient::certificates() {
    return items(call(Method::get, "/1.0/certificates?recursion=1"));
}

Json ApiClient::certificate(std::string_view fingerprint) {
    return call(Method::get, item("certificates", fingerprint));
}

void ApiClient::add_certificate(std::string_view base64, std::string_view trust_password,
                                std::string_view role) {
    Json body = Json::object({{"certificate", base64}});
    if (!trust_password.empty()) body.set("trust-password", trust_password);
    if (!role.empty()) body.set("role", role);
    call(Method::post, "/1.0/certificates", &body);
}

void ApiClient::add_certificate_with_token(std::string_view base64, std::string_view join_token) {
    const Json body = Json::object({{"certificate", base64}, {"join_token", join_token}});
    call(Method::post, "/1.0/certificates", &body);
}

Json ApiClient::delete_certificate(std::string_view fingerprint) {
    return call(Method::delete_, item("certificates", fingerprint));
}

Json ApiClient::create_join_token(std::string_view name, std::string_view expiry, std::string_view role) {
    const Json body = Json::object({{"name", name}, {"expiry", expiry}, {"role", role}});
    return call(Method::post, "/1.0/certificates/tokens", &body);
}

JsonArray ApiClient::join_tokens() {
    return items(call(Method::get, "/1.0/certificates/tokens?recursion=1"));
}

void ApiClient::delete_join_token(std::string_view id) {
    call(Method::delete_, item("certificates/tokens", id));
}

Json ApiClient::config() {
    return call(Method::get, "/1.0/config").at("config");
}

Json ApiClient::set_config(std::string_view name, std::string_view value) {
    const Json body = Json::object({{"name", name}, {"value", value}});
    return call(Method::patch, "/1.0/config", &body);
}

JsonArray ApiClient::nodes() {
    return items(call(Method::get, "/1.0/nodes?recursion=1"));
}

Json ApiClient::node(std::string_view name) {
    return call(Method::get, item("nodes", name));
}

Json ApiClient::create_node(const Json& request) {
    return call(Method::post, "/1.0/nodes", &request);
}

Json ApiClient::patch_node(std::string_view name, const Json& fields) {
    return call(Method::patch, item("nodes", name), &fields);
}

Json ApiClient::evacuate_node(std::string_view name, std::string_view mode) {
    const Json body = Json::object({{"mode", mode}});
    return call(Method::post, item("nodes", name) + "/evacuate", &body);
}

Json ApiClient::delete_node(std::string_view name, bool force, bool keep_in_cluster) {
    const Json body = Json::object({{"force", force}, {"keep_in_cluster", keep_in_cluster}});
    return call(Method::delete_, item("nodes", name), &body);
}

Json ApiClient::synchronise_image(std::string_view id_or_name) {
    const Json body = Json::object({{"force_sync", true}});
    return call(Method::patch, item("images", id_or_name), &body);
}

Json ApiClient::import_image(const Json& request) {
    return call(Method::post, "/1.0/images", &request);
}

}  // namespace svc

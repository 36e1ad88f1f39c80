// Calls about packages: addons, applications, the registry.
#include "libsvc/base/strings.h"
#include "libsvc/client/api_client.h"
#include "libsvc/client/api_paths.h"

namespace svc {

using client::item;
using client::items;

namespace {

std::string version_path(std::string_view collection, std::string_view id, int version) {
    return item(collection, id) + "/" + std::to_string(version);
}

}  // namespace

JsonArray ApiClient::addons() {
    return items(call(Method::get, "/1.0/addons?recursion=1"));
}

Json ApiClient::addon(std::string_view name) {
    return call(Method::get, item("addons", name));
}

Json ApiClient::create_addon(std::string_view name, const Package& package) {
    return upload(Method::post, "/1.0/addons", Json::object({{"name", name}}).dump(), package);
}

Json ApiClient::update_addon(std::string_view name, const Package& package) {
    return upload(Method::patch, item("addons", name), "{}", package);
}

Json ApiClient::delete_addon(std::string_view name) {
    return call(Method::delete_, item("addons", name));
}

Json ApiClient::delete_addon_version(std::string_view name, int version) {
    return call(Method::delete_, version_path("addons", name, version));
}

JsonArray ApiClient::applications() {
    return items(call(Method::get, "/1.0/applications?recursion=1"));
}

Json ApiClient::application(std::string_view id_or_name) {
    return call(Method::get, item("applications", id_or_name));
}

Json ApiClient::create_application(const Package& package) {
    return upload(Method::post, "/1.0/applications", "", package);
}

Json ApiClient::update_application(std::string_view id_or_name, const Package& package) {
    return upload(Method::patch, item("applications", id_or_name), "", package);
}

Json ApiClient::patch_application(std::string_view id_or_name, const Json& fields) {
    return call(Method::patch, item("applications", id_or_name), &fields);
}

Json ApiClient::refresh_application(std::string_view id_or_name) {
    ClientRequest request;
    request.method = Method::patch;
    request.path = item("applications", id_or_name);
    request.headers.set("Content-Type", "application/json");
    return send(request);
}

Json ApiClient::delete_application(std::string_view id_or_name, bool force) {
    const Json body = Json::object({{"force", force}});
    return call(Method::delete_, item("applications", id_or_name), &body);
}

Json ApiClient::delete_application_version(std::string_view id_or_name, int version, bool force) {
    const Json body = Json::object({{"force", force}});
    return call(Method::delete_, version_path("applications", id_or_name, version), &body);
}

Json ApiClient::publish_application(std::string_view id_or_name, int version, bool published) {
    const Json body = Json::object({{"published", published}});
    return call(Method::patch, version_path("applications", id_or_name, version), &body);
}

std::string ApiClient::application_manifest(std::string_view id_or_name, std::optional<int> version) {
    const std::string path =
        version ? version_path("applications", id_or_name, *version) : item("applications", id_or_name);
    std::string text;
    download(path + "/manifest", "", [&text](std::string_view piece) { text += piece; });
    return text;
}

std::string ApiClient::export_application(std::string_view id_or_name, int version,
                                          std::string_view compression,
                                          std::function<void(std::string_view)> sink) {
    const std::string query = compression.empty() ? "" : "?compression=" + percent_encode(compression);
    return download(version_path("applications", id_or_name, version) + query, "X-SVC-Fingerprint",
                    std::move(sink));
}

JsonArray ApiClient::registry_applications() {
    return items(call(Method::get, "/1.0/registry/applications"));
}

Json ApiClient::push_application(std::string_view id_or_name) {
    return call(Method::post, item("registry/applications", id_or_name) + "/push");
}

Json ApiClient::pull_application(std::string_view name) {
    return call(Method::post, item("registry/applications", name) + "/pull");
}

Json ApiClient::delete_registry_application(std::string_view name) {
    return call(Method::delete_, item("registry/applications", name));
}

}  // namespace svc

#include "libsvc/client/api_client.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/api_paths.h"
#include "libsvc/client/envelope.h"
#include "libsvc/model/cluster/operation.h"

namespace svc {
namespace {

// An upload must be answered within this time after its last byte: the service checks the whole package
// first.
constexpr std::chrono::seconds upload_timeout{300};

std::string image_request_header(const ImageRequest& request) {
    Json header = Json::object();
    if (!request.name.empty()) header.set("name", request.name);
    if (request.is_default) header.set("default", *request.is_default);
    return header.dump();
}

Json exec_body(const ExecRequest& request) {
    Json command = Json::array();
    for (const auto& word : request.command) command.push_back(word);
    Json environment = Json::object();
    for (const auto& [name, value] : request.environment) environment.set(name, value);
    Json body = Json::object(
        {{"command", command}, {"environment", environment}, {"interactive", request.interactive}});
    if (request.interactive) {
        body.set("width", request.width);
        body.set("height", request.height);
    }
    return body;
}

}  // namespace

namespace client {

std::string item(std::string_view collection, std::string_view id) {
    if (id.empty()) throw Error(ErrorCode::invalid_argument, "an id must not be empty");
    return "/1.0/" + std::string(collection) + "/" + percent_encode(id);
}

JsonArray items(const Json& metadata) {
    return metadata.is_null() ? JsonArray() : metadata.as_array();
}

}  // namespace client

using client::item;
using client::items;
using client::open_envelope;

ApiClient::ApiClient(Target target, std::chrono::milliseconds timeout)
    : http_(std::move(target)), timeout_(timeout) {}

Json ApiClient::send(const ClientRequest& request) {
    const ClientReply reply = http_.call(request);
    return open_envelope(reply.status, reply.body);
}

Json ApiClient::call(Method method, const std::string& path, const Json* body) {
    ClientRequest request;
    request.method = method;
    request.path = path;
    request.timeout = timeout_;
    if (body != nullptr) {
        request.headers.set("Content-Type", "application/json");
        request.body = body->dump();
    }
    return send(request);
}

Json ApiClient::upload(Method method, const std::string& path, const std::string& meta,
                       const Package& package) {
    ClientRequest request;
    request.method = method;
    request.path = path;
    request.headers.set("Content-Type", "application/octet-stream");
    request.headers.set("X-SVC-Request", meta);
    request.headers.set("X-SVC-Fingerprint", package.fingerprint());
    request.source = package.source();
    request.length = package.size();
    request.timeout = upload_timeout;
    return send(request);
}

std::string ApiClient::download(const std::string& path, std::string_view fingerprint_header,
                                std::function<void(std::string_view)> sink) {
    ClientRequest request;
    request.path = path;
    request.sink = std::move(sink);
    request.timeout = upload_timeout;
    const ClientReply reply = http_.call(request);
    if (reply.status >= 300) open_envelope(reply.status, reply.body);
    return reply.headers.get(fingerprint_header);
}

Json ApiClient::server() {
    return call(Method::get, "/1.0");
}

std::string ApiClient::server_version() {
    return call(Method::get, "/1.0/version").at("version").as_string();
}

JsonArray ApiClient::images() {
    return items(call(Method::get, "/1.0/images?recursion=1"));
}

Json ApiClient::image(std::string_view id_or_name) {
    return call(Method::get, item("images", id_or_name));
}

Json ApiClient::default_image() {
    const JsonArray found = items(call(Method::get, "/1.0/images?default=true"));
    return found.empty() ? Json() : found.front();
}

Json ApiClient::create_image(const ImageRequest& request, const Package& package) {
    return upload(Method::post, "/1.0/images", image_request_header(request), package);
}

Json ApiClient::update_image(std::string_view id_or_name, const ImageRequest& request,
                             const Package& package) {
    return upload(Method::patch, item("images", id_or_name), image_request_header(request), package);
}

Json ApiClient::patch_image(std::string_view id_or_name, const ImagePatch& patch) {
    Json body = Json::object();
    if (patch.is_default) body.set("default", *patch.is_default);
    return call(Method::patch, item("images", id_or_name), &body);
}

Json ApiClient::delete_image(std::string_view id_or_name, bool force) {
    const Json body = Json::object({{"force", force}});
    return call(Method::delete_, item("images", id_or_name), &body);
}

Json ApiClient::delete_image_version(std::string_view id_or_name, int version) {
    return call(Method::delete_, item("images", id_or_name) + "/" + std::to_string(version));
}

JsonArray ApiClient::instances() {
    return items(call(Method::get, "/1.0/instances?recursion=1"));
}

JsonArray ApiClient::instances_tagged(std::string_view tag) {
    return items(call(Method::get, "/1.0/instances?recursion=1&tags=" + percent_encode(tag)));
}

Json ApiClient::instance(std::string_view id) {
    return call(Method::get, item("instances", id));
}

Json ApiClient::launch(const Json& payload) {
    return call(Method::post, "/1.0/instances", &payload);
}

Json ApiClient::set_instance_status(std::string_view id, std::string_view desired_status) {
    const Json body = Json::object({{"desired_status", desired_status}});
    return call(Method::patch, item("instances", id), &body);
}

Json ApiClient::protect_instance(std::string_view id, bool wanted) {
    const Json security = Json::object({{"delete_protected", wanted}});
    const Json body = Json::object({{"config", Json::object({{"security", security}})}});
    return call(Method::patch, item("instances", id), &body);
}

Json ApiClient::extend_instance(std::string_view id, const Json& limits) {
    return call(Method::patch, item("instances", id), &limits);
}

void ApiClient::note_uses(const std::vector<std::string>& instances) {
    const Json body = Json::object({{"instances", JsonArray(instances.begin(), instances.end())}});
    call(Method::post, "/1.0/uses", &body);
}

Json ApiClient::delete_instance(std::string_view id, bool force) {
    const Json body = Json::object({{"force", force}});
    return call(Method::delete_, item("instances", id), &body);
}

std::vector<std::string> ApiClient::instance_logs(std::string_view id) {
    std::vector<std::string> names;
    for (const Json& url : items(call(Method::get, item("instances", id) + "/logs")))
        names.push_back(url.as_string().substr(url.as_string().rfind('/') + 1));
    return names;
}

void ApiClient::read_instance_log(std::string_view id, std::string_view name,
                                  std::function<void(std::string_view)> sink) {
    download(item("instances", id) + "/logs/" + percent_encode(name), "", std::move(sink));
}

Json ApiClient::exec(std::string_view id, const ExecRequest& request) {
    const Json body = exec_body(request);
    return call(Method::post, item("instances", id) + "/exec", &body);
}

JsonArray ApiClient::operations() {
    JsonArray all;
    const Json by_status = call(Method::get, "/1.0/operations?recursion=1");
    if (by_status.is_null()) return all;
    for (const auto& [status, records] : by_status.as_object())
        for (const Json& record : items(records)) all.push_back(record);
    return all;
}

Json ApiClient::operation(std::string_view id) {
    return call(Method::get, item("operations", id));
}

void ApiClient::cancel_operation(std::string_view id) {
    call(Method::delete_, item("operations", id));
}

Json ApiClient::wait_operation(std::string_view id, std::chrono::seconds timeout) {
    ClientRequest request;
    request.path = item("operations", id) + "/wait?timeout=" + std::to_string(timeout.count());
    request.timeout = timeout + std::chrono::seconds(30);
    return send(request);
}

JsonArray ApiClient::tasks() {
    return items(call(Method::get, "/1.0/tasks?recursion=1"));
}

bool operation_is_final(const Json& operation) {
    return operation.at("status_code").as_int() >= 200;
}

void require_success(const Json& operation) {
    const std::int64_t code = operation.at("status_code").as_int();
    if (code == static_cast<int>(OperationStatus::success)) return;
    const Json* reason = operation.find("err");
    const std::string text = reason != nullptr && reason->is_string() ? reason->as_string() : "";
    if (code == static_cast<int>(OperationStatus::cancelled))
        throw Error(ErrorCode::cancelled, text.empty() ? "Operation cancelled" : text);
    throw Error(ErrorCode::internal, text.empty() ? "Failure" : text);
}

std::string resource_id(const Json& operation, std::initializer_list<std::string_view> kinds) {
    const Json* resources = operation.find("resources");
    for (const auto kind : kinds) {
        const Json* urls = resources == nullptr ? nullptr : resources->find(kind);
        if (urls == nullptr || !urls->is_array() || urls->as_array().empty()) continue;
        const std::string& url = urls->as_array().front().as_string();
        return percent_decode(url.substr(url.rfind('/') + 1));
    }
    return "";
}

}  // namespace svc

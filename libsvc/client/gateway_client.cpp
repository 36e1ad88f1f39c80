#include "libsvc/client/gateway_client.h"

#include "libsvc/base/strings.h"
#include "libsvc/client/api_paths.h"
#include "libsvc/client/envelope.h"

namespace svc {

namespace {

// The gateway waits two minutes for a deletion.
constexpr std::chrono::minutes deletion_timeout{3};

std::string removal_query(SessionRemoval how) {
    std::string query = how.wait ? "?sync=true" : "?sync=false";
    return how.force ? query + "&force=true" : query;
}

}  // namespace

using client::item;
using client::items;

GatewayClient::GatewayClient(Target target, std::string token)
    : http_(std::move(target)), token_(std::move(token)) {}

Json GatewayClient::call(Method method, std::string path, const Json* body, bool patient) {
    ClientRequest request;
    request.method = method;
    request.path = std::move(path);
    if (!token_.empty()) request.headers.set("Authorization", "macaroon root=" + token_);
    if (body != nullptr) {
        request.headers.set("Content-Type", "application/json");
        request.body = body->dump();
    }
    if (patient) request.timeout = deletion_timeout;
    const ClientReply reply = http_.call(request);
    return client::open_envelope(reply.status, reply.body);
}

Json GatewayClient::status() {
    return call(Method::get, "/1.0/status");
}

JsonArray GatewayClient::accounts() {
    return items(call(Method::get, "/1.0/accounts"));
}

Json GatewayClient::create_account(std::string_view name, std::string_view expiry, bool admin) {
    Json body = Json::object({{"name", name}});
    if (!expiry.empty()) body.set("expiry", expiry);
    if (admin) body.set("admin", true);
    return call(Method::post, "/1.0/accounts", &body);
}

void GatewayClient::delete_account(std::string_view name) {
    call(Method::delete_, item("accounts", name));
}

JsonArray GatewayClient::sessions(std::string_view status) {
    const std::string filter = status.empty() ? "" : "&status=" + percent_encode(status);
    return items(call(Method::get, "/1.0/sessions?recursion=true" + filter));
}

Json GatewayClient::session(std::string_view id) {
    return call(Method::get, item("sessions", id));
}

Json GatewayClient::create_session(const Json& request) {
    return call(Method::post, "/1.0/sessions", &request);
}

Json GatewayClient::join_session(std::string_view id, const Json& request) {
    return call(Method::post, item("sessions", id) + "/join", &request);
}

void GatewayClient::delete_session(std::string_view id, SessionRemoval how) {
    call(Method::delete_, item("sessions", id) + removal_query(how), nullptr, how.wait);
}

Json GatewayClient::delete_sessions(const std::vector<std::string>& ids, SessionRemoval how) {
    const Json body = Json::object({{"ids", JsonArray(ids.begin(), ids.end())}});
    return call(Method::delete_, "/1.0/sessions" + removal_query(how), &body, how.wait);
}

JsonArray GatewayClient::regions() {
    return items(call(Method::get, "/1.0/regions"));
}

JsonArray GatewayClient::applications() {
    return items(call(Method::get, "/1.0/applications"));
}

}  // namespace svc

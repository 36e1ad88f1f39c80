#include "libsvc/client/sessions.h"

#include "libsvc/client/api_paths.h"

namespace svc {

JsonArray sessions(ApiClient& client) {
    return client.call(Method::get, "/1.0/sessions?recursion=1").as_array();
}

void end_session(ApiClient& client, std::string_view id) {
    client.call(Method::delete_, client::item("sessions", id));
}

Json make_login_link(ApiClient& client, std::string_view role) {
    Json body = Json::object();
    if (!role.empty()) body.set("role", role);
    return client.call(Method::post, "/1.0/sessions/links", &body);
}

bool has_console(ApiClient& client) try {
    client.download("/ui/", "", [](std::string_view) {});
    return true;
} catch (const Error& e) {
    if (e.code() != ErrorCode::not_found) throw;
    return false;
}

Json set_certificate_role(ApiClient& client, std::string_view fingerprint, std::string_view role) {
    const Json body = Json::object({{"role", role}});
    return client.call(Method::patch, client::item("certificates", fingerprint), &body);
}

}  // namespace svc

#include "server/audit/audit_entry.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/base/printable.h"
#include "server/login/login_error.h"

namespace svc::server {

namespace {

constexpr std::size_t max_text = 1024;         // bytes of a path, an error
constexpr std::size_t max_of_strangers = 256;  // bytes of a path
constexpr std::size_t max_error_body = 65536;  // longer ones are no errors of ours
// Routes of GET that log a browser in.
constexpr std::array<std::string_view, 1> login_paths{"/1.0/oidc/callback"};

// A report that is repeated all the time, and changes nothing that anybody has set.
constexpr std::string_view path_of_uses = "/1.0/uses";

// What instances say of themselves with their tokens is no change by a user.
bool is_report(const Request& request) {
    return request.route && request.route->access == Access::token && request.headers.find("Authorization");
}

// Clients choose the texts: the path comes percent-decoded.
std::string shown(std::string_view text) {
    return plain_text(text, max_text);
}

// Clients choose their certificates' names: this tells two of one name apart.
std::string requestor_of(const BrowserSession& session) {
    return "session=" + session.id;
}

std::string requestor_of(const Request& request, const std::optional<Identity>& identity) {
    if (!identity) return stranger(*request.peer);
    return identity->session ? requestor_of(*identity->session) : identity->requestor;
}

std::string operation_in(const Response& response) {
    constexpr std::string_view operations = "/1.0/operations/";
    const std::string location = response.headers.get("Location");
    return location.starts_with(operations) ? location.substr(operations.size()) : "";
}

}  // namespace

// The other listeners are for instances, for managers, which ask in nobody's name, and to read metrics.
bool is_audited(const Request& request) {
    const std::string& listener = request.peer->listener;
    if ((listener != local_listener && listener != tls_listener) || is_report(request)) return false;
    if (request.method == Method::get || request.method == Method::head)
        return request.route && std::ranges::find(login_paths, request.route->path) != login_paths.end();
    return request.method != Method::options;
}

AuditEntry audit_entry(const Request& request, const Authenticator& authenticator) {
    AuditEntry entry;
    const auto identity = authenticator.identify(request);
    entry.admin = identity && identity->role == Role::admin;
    if (identity) entry.client = identity->certificate.empty() ? identity->requestor : identity->certificate;
    entry.who = shown(identity ? identity->name : stranger(*request.peer));
    entry.requestor = requestor_of(request, identity);
    entry.role = identity ? to_text(identity->role) : "";
    entry.address = request.peer->transport == Transport::unix_socket ? "local" : request.peer->address;
    entry.method = request.method_text;
    entry.path = plain_text(request.path, identity ? max_text : max_of_strangers);
    entry.request_id = request.id;
    entry.changes = !request.route || request.route->path != path_of_uses;
    entry.passed_on = !request.peer->forwarded_by.empty();
    return entry;
}

Json audit_record_of_service(std::string_view requestor, std::string_view method, const std::string& path,
                             const std::string& operation, Time now) {
    return Json::object({{"time", to_rfc3339(now)},
                         {"who", "service"},
                         {"requestor", requestor},
                         {"role", ""},
                         {"address", "local"},
                         {"method", method},
                         {"path", path},
                         {"status", 202},
                         {"error", ""},
                         {"request_id", ""},
                         {"operation", operation}});
}

std::string audited_error(const Response& response) {
    if (const std::string text = login_error_in(response); !text.empty()) return shown(text);
    if (response.status < 400 || response.body.size() > max_error_body) return "";
    try {
        const Json body = Json::parse(response.body);
        const Json* const error = body.find("error");
        return error && error->is_string() ? shown(error->as_string()) : "";
    } catch (const Error&) {
        return "";
    }
}

Json audit_record(const AuditEntry& entry, const Response& response, const BrowserSession* opened, Time now) {
    return Json::object({{"time", to_rfc3339(now)},
                         {"who", opened ? shown(opened->name) : entry.who},
                         {"requestor", opened ? requestor_of(*opened) : entry.requestor},
                         {"role", opened ? to_text(opened->role) : std::string_view(entry.role)},
                         {"address", entry.address},
                         {"method", entry.method},
                         {"path", entry.path},
                         {"status", response.status},
                         {"error", audited_error(response)},
                         {"request_id", entry.request_id},
                         {"operation", operation_in(response)}});
}

}  // namespace svc::server

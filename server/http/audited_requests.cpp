#include "server/http/audited_requests.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/base/printable.h"
#include "libsvc/net/socket/network_of.h"
#include "server/http/login_error.h"
#include "server/http/session_cookie.h"

namespace svc::server {

namespace {

constexpr std::size_t max_text = 1024;         // bytes of a path, an error
constexpr std::size_t max_error_body = 65536;  // longer ones are no errors of ours
// Routes of GET that log a browser in.
constexpr std::array<std::string_view, 1> login_paths{"/1.0/oidc/callback"};

// What instances say of themselves with their tokens is no change by a user.
bool is_report(const Request& request) {
    return request.route && request.route->access == Access::token && request.headers.find("Authorization");
}

// The other listeners are for instances, for managers, which ask in nobody's name, and to read metrics.
bool is_audited(const Request& request) {
    const std::string& listener = request.peer->listener;
    if ((listener != local_listener && listener != tls_listener) || is_report(request)) return false;
    if (request.method == Method::get || request.method == Method::head)
        return request.route && std::ranges::find(login_paths, request.route->path) != login_paths.end();
    return request.method != Method::options;
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

std::string error_in(const Response& response) {
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

std::string operation_in(const Response& response) {
    constexpr std::string_view operations = "/1.0/operations/";
    const std::string location = response.headers.get("Location");
    return location.starts_with(operations) ? location.substr(operations.size()) : "";
}

}  // namespace

struct AuditedRequests::Entry {
    std::string who, requestor, role, address, method, path, request_id;
    std::string client;  // by which its refusals are counted; "": a stranger's, counted by address
    bool admin = false;
    bool passed_on = false;  // by another manager, which has written the line
};

std::shared_ptr<const AuditedRequests::Entry> AuditedRequests::entry_of(const Request& request) const {
    auto entry = std::make_shared<Entry>();
    const auto identity = parts_.authenticator.identify(request);
    entry->admin = identity && identity->role == Role::admin;
    if (identity) entry->client = identity->certificate.empty() ? identity->requestor : identity->certificate;
    entry->who = shown(identity ? identity->name : stranger(*request.peer));
    entry->requestor = requestor_of(request, identity);
    entry->role = identity ? to_text(identity->role) : "";
    entry->address = request.peer->transport == Transport::unix_socket ? "local" : request.peer->address;
    entry->method = request.method_text;
    entry->path = shown(request.path);
    entry->request_id = request.id;
    entry->passed_on = !request.peer->forwarded_by.empty();
    return entry;
}

RequestPlan AuditedRequests::plan(Request& request) {
    RequestPlan plan = parts_.inner.plan(request);
    if (!is_audited(request)) return plan;
    plan.handler = [this, entry = entry_of(request), handler = std::move(plan.handler)](Request& asked) {
        return noted(entry, handler(asked));
    };
    return plan;
}

Response AuditedRequests::noted(const std::shared_ptr<const Entry>& entry, Response response) {
    if (!response.later) {
        note(*entry, response);
        return response;
    }
    response.later = [this, entry, later = std::move(response.later)](const Responder& respond) {
        later([this, entry, respond](Response answer) { respond(noted(entry, std::move(answer))); });
    };
    return response;
}

// Refusals must neither fill a disk nor push out what was done. Those of admins, who can change everything,
// are all told.
bool AuditedRequests::leaves_out(const Entry& entry, bool refused) {
    if (entry.admin || !refused) return false;
    const SteadyTime now = parts_.clock.steady_now();
    const std::lock_guard lock(mutex_);
    return entry.client.empty() ? !of_strangers_.take(network_of(entry.address), now)
                                : !of_clients_.take(entry.client, now);
}

// A login is that of the session which it has opened.
void AuditedRequests::note(const Entry& entry, const Response& response) {
    const std::string error = error_in(response);
    if (leaves_out(entry, response.status >= 400 || !error.empty())) return;
    const auto opened = parts_.authenticator.session(opened_secret(response));
    const Json json = Json::object({{"time", to_rfc3339(parts_.clock.now())},
                                    {"who", opened ? shown(opened->name) : entry.who},
                                    {"requestor", opened ? requestor_of(*opened) : entry.requestor},
                                    {"role", opened ? to_text(opened->role) : std::string_view(entry.role)},
                                    {"address", entry.address},
                                    {"method", entry.method},
                                    {"path", entry.path},
                                    {"status", response.status},
                                    {"error", error},
                                    {"request_id", entry.request_id},
                                    {"operation", operation_in(response)}});
    parts_.events.publish(EventType::audit, json);
    if (entry.passed_on) return;
    tell_left_out();
    parts_.log.write(json.dump());
}

void AuditedRequests::tell_left_out() {
    std::uint64_t count = 0;
    {
        const SteadyTime now = parts_.clock.steady_now();
        const std::lock_guard lock(mutex_);
        count = of_strangers_.left_out(now) + of_clients_.left_out(now);
    }
    if (count == 0) return;
    parts_.log.write(Json::object({{"time", to_rfc3339(parts_.clock.now())},
                                   {"who", "guest"},
                                   {"error", "refused requests that are left out"},
                                   {"count", count}})
                         .dump());
}

Response AuditedRequests::fault(const Request* request, const std::exception& error) {
    Response response = parts_.inner.fault(request, error);
    return request && is_audited(*request) ? noted(entry_of(*request), std::move(response))
                                           : std::move(response);
}

void AuditedRequests::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                           std::chrono::nanoseconds duration) {
    parts_.inner.done(request, status, received, sent, duration);
}

}  // namespace svc::server

#include "libsvc/base/error.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/login/session_cookie.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

constexpr std::string_view current_session = "current";

Identity identity_of(const Services& services, const Request& request) {
    if (auto identity = services.authenticator.identify(request)) return std::move(*identity);
    throw Error(ErrorCode::forbidden, "Not Authorized");
}

bool is_current(const BrowserSession& session, const Identity& caller) {
    return caller.session && caller.session->id == session.id;
}

// A user is known by the name, and by the certificate or the provider that vouches for it.
bool is_own(const BrowserSession& session, const Identity& caller) {
    return session.name == caller.name && session.certificate == caller.certificate &&
           (!caller.session || caller.session->method == session.method);
}

Json shown_session(const BrowserSession& session, const Identity& caller) {
    Json record = to_json(session);
    record.set("current", is_current(session, caller));
    return record;
}

// Records also without recursion: a session has no URL to be read at.
Response list_sessions(const Services& services, const Request& request) {
    wants_records(request);
    const Identity caller = identity_of(services, request);
    auto sessions = services.management.sessions().list();
    if (caller.role != Role::admin)
        std::erase_if(sessions, [&](const auto& session) { return !is_own(*session, caller); });
    return sync_list(request, std::move(sessions),
                     [caller](const BrowserSession& session) { return shown_session(session, caller); });
}

// The addresses of the console; where the client has asked is one that it reaches.
std::vector<std::string> pages_for(const Services& services, const Request& request) {
    std::vector<std::string> pages = services.identity().pages;
    const std::string host = request.headers.get("Host");
    if (request.peer->listener == tls_listener && !host.empty())
        pages.insert(pages.begin(), "https://" + host + "/ui/");
    return pages;
}

// A session ends with what its link was made with at the latest: the lifetime of a session, the validity of a
// certificate, which is not that of the authority that vouches for it.
std::optional<Time> end_of(const Identity& caller, const Request& request) {
    if (caller.session) return caller.session->expires_at;
    if (caller.certificate.empty() || !request.peer->certificate) return {};
    return request.peer->certificate->not_after;
}

Response make_link(const Services& services, const Request& request) {
    const Identity caller = identity_of(services, request);
    LinkGrant maker{caller.name, caller.role, caller.certificate, end_of(caller, request),
                    caller.session ? caller.session->id : ""};
    const IssuedLink link = services.management.sessions().invite(
        LinkRequest::from_json(optional_json_body(request)), std::move(maker));
    std::vector<std::string> urls = pages_for(services, request);
    for (std::string& url : urls) url += "#login=" + link.secret;
    return sync(Json::object({{"secret", link.secret},
                              {"urls", JsonArray(urls.begin(), urls.end())},
                              {"expires_at", to_unix_seconds(link.expires_at)}}));
}

// Browsers take the cookie over TLS alone.
Response open_session(const Services& services, const Request& request) {
    const Json body = json_body(request);
    const std::string link = JsonFields(body).require_string("link");
    if (request.peer->listener != tls_listener)
        throw Error(ErrorCode::invalid_argument, "a session is opened over TLS");
    const auto caller = services.authenticator.identify(request);
    const OpenedSession opened = services.management.sessions().follow(
        link, {request.peer->address, request.headers.get("User-Agent")},
        caller ? caller->session.get() : nullptr);
    Json record = to_json(*opened.session);
    record.set("current", true);
    record.set("key", opened.key);
    Response response = sync(record);
    response.headers.set("Set-Cookie", session_cookie(opened.secret));
    return response;
}

// A browser that navigates sends no key: a ticket lets it download one path.
Response make_ticket(const Services& services, const Request& request) {
    const Identity caller = identity_of(services, request);
    if (!caller.session) throw Error(ErrorCode::invalid_argument, "tickets are for sessions");
    const Json body = json_body(request);
    const IssuedTicket ticket =
        services.management.sessions().ticket(*caller.session, JsonFields(body).require_string("path"));
    return sync(Json::object({{"ticket", ticket.text}, {"expires_at", to_unix_seconds(ticket.expires_at)}}));
}

// Sessions of others are not there for a client that is no admin.
std::shared_ptr<const BrowserSession> wanted_session(const Services& services, const Request& request,
                                                     const Identity& caller) {
    const std::string& id = request.params.at("id");
    auto session = id == current_session ? caller.session : services.management.sessions().find_by_id(id);
    if (!session || (caller.role != Role::admin && !is_own(*session, caller)))
        throw Error(ErrorCode::not_found, "session not found");
    return session;
}

Response end_session(const Services& services, const Request& request) {
    const Identity caller = identity_of(services, request);
    const auto session = wanted_session(services, request, caller);
    services.management.sessions().end(session->id);
    Response response = sync(Json::object());
    if (is_current(*session, caller)) response.headers.set("Set-Cookie", ended_session_cookie());
    return response;
}

}  // namespace

std::vector<Route> session_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    const std::string all = "/1.0/sessions";
    return {
        {Method::get, all, viewer, on_pool, "sessions", call(list_sessions)},
        {Method::post, all, everyone, on_pool, "sessions", call(open_session)},
        {Method::post, all + "/links", viewer, on_pool, "session_links", call(make_link)},
        {Method::post, all + "/tickets", viewer, on_pool, "session_tickets", call(make_ticket)},
        {Method::delete_, all + "/{id}", viewer, on_pool, "session", call(end_session)},
    };
}

}  // namespace svc::server

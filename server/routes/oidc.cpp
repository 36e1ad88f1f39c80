// Login at an OpenID provider (docs/oidc.md). A browser follows these routes: each answer, also an error,
// leads it to another page.
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/socket/network_of.h"
#include "server/http/refusal.h"
#include "server/login/cookies.h"
#include "server/login/login_error.h"
#include "server/login/session_cookie.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

constexpr std::string_view callback_path = "/1.0/oidc/callback";
constexpr std::string_view login_cookie_name = "__Host-svc-login";

// Lax: the provider's page leads the browser back here.
std::string login_cookie(std::string_view value, Duration age) {
    return std::string(login_cookie_name) + "=" + std::string(value) +
           "; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=" +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(age).count());
}

Response lead_to(int status, const std::string& url) {
    Response response;
    response.status = status;
    response.headers.set("Location", url);
    response.headers.set("Cache-Control", "no-store");
    return response;
}

// No warning: anybody can cause it, as often as they like. The audit has it.
Response lead_to_error(const std::exception& error, const std::string& address) {
    const Refusal refusal = refusal_of(error);
    log::debug("login at the OpenID provider failed", {{"address", address}, {"error", refusal.message}});
    Response response = login_error(refusal.message);
    response.headers.add("Set-Cookie", login_cookie("", Duration::zero()));
    return response;
}

// The provider may take a while: no request thread waits for it.
Response on_login_thread(OidcLogin& oidc, const std::string& address, std::function<Response()> work) {
    Response response;
    response.later = [&oidc, address, work = std::move(work)](const Responder& respond) {
        const auto run = [respond, address, work] {
            try {
                respond(work());
            } catch (const std::exception& e) {
                respond(lead_to_error(e, address));
            }
        };
        try {
            oidc.run(network_of(address), run);
        } catch (const Error& e) {
            respond(lead_to_error(e, address));
        }
    };
    return response;
}

void check_listener(const Request& request) {
    if (request.peer->listener != tls_listener)
        throw Error(ErrorCode::invalid_argument, "users log in over TLS");
}

Response lead_to_provider(const BegunLogin& begun) {
    Response response = lead_to(302, begun.url);
    response.headers.add("Set-Cookie", login_cookie(begun.cookie, OidcLogin::pending));
    return response;
}

// Where the provider knows the user, a login replaces without a question who one is here.
bool is_begun_elsewhere(const Request& request) {
    const std::string site = request.headers.get("Sec-Fetch-Site");
    return iequals(site, "cross-site") || iequals(site, "same-site");
}

Response begin_login(const Services& services, const Request& request) {
    check_listener(request);
    if (is_begun_elsewhere(request)) return login_error("another site has begun this login: begin it here");
    OidcLogin& oidc = services.management.oidc();
    const std::string callback = "https://" + request.headers.get("Host") + std::string(callback_path);
    const std::string return_to = request.query_value("return");
    try {
        if (const auto begun = oidc.begin_at_once(callback, return_to)) return lead_to_provider(*begun);
    } catch (const Error& e) {
        return lead_to_error(e, request.peer->address);
    }
    return on_login_thread(oidc, request.peer->address, [&oidc, callback, return_to] {
        return lead_to_provider(oidc.begin(callback, return_to));
    });
}

LoginAnswer answer_of(const Request& request) {
    return {cookie_of(request, login_cookie_name), request.query_value("state"), request.query_value("code"),
            request.query_value("iss"), request.query_value("error")};
}

// The key is behind `#`, which is in no log and no Referer; the page takes it out of its address.
std::string page_with(const std::string& key, const std::string& return_to) {
    const std::size_t place = return_to.find('#');
    const std::string back = place == std::string::npos ? "" : percent_encode(return_to.substr(place));
    return "/ui/#session-key=" + key + "&return=" + back;
}

// The cookie of a former session is Strict: the browser does not send it on its way back from the provider.
Response logged_in(const EndedLogin& login, BrowserSessionService& sessions, BrowserPlace place) {
    const OpenedSession opened =
        sessions.open(LoginMethod::oidc, {login.user.name, login.user.role, ""}, std::move(place));
    Response response = lead_to(303, page_with(opened.key, login.return_to));
    response.headers.add("Set-Cookie", session_cookie(opened.secret));
    response.headers.add("Set-Cookie", login_cookie("", Duration::zero()));
    return response;
}

Response end_login(const Services& services, const Request& request) {
    check_listener(request);
    OidcLogin& oidc = services.management.oidc();
    BrowserSessionService& sessions = services.management.sessions();
    const BrowserPlace place{request.peer->address, request.headers.get("User-Agent")};
    return on_login_thread(oidc, place.address, [&oidc, &sessions, place, answer = answer_of(request)] {
        return logged_in(oidc.end(answer), sessions, place);
    });
}

}  // namespace

std::vector<Route> oidc_routes(const Services& services) {
    using enum Dispatch;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    return {
        {Method::get, "/1.0/oidc/login", Access::everyone, on_io_thread, "oidc_login", call(begin_login)},
        {Method::get, std::string(callback_path), Access::everyone, on_pool, "oidc_callback",
         call(end_login)},
    };
}

}  // namespace svc::server

// The WebSockets of a session. The token in the URL decides who may open one.
#include "libsvc/base/error.h"
#include "server/gateway/routes/routes.h"
#include "server/http/refusal.h"

namespace svc::gateway {

namespace {

// An instance that is not there yet, or too many clients: 503, nobody is at fault.
std::shared_ptr<WebSocketHandler> media_socket(const RouteContext& context, const std::string& id,
                                               const Request& request) try {
    return context.sessions->media_socket(id, request.query_value("token"), request.query_value("client"));
} catch (const Error& e) {
    if (e.code() == ErrorCode::unavailable) throw server::TryLater(e.what());
    throw;
}

// A request that cannot become a WebSocket must not use up its token.
Response open_socket(const RouteContext& context, const Request& request, SocketRole role) {
    if (!request.wants_websocket()) throw Error(ErrorCode::invalid_argument, "websocket upgrade expected");
    if (request.headers.get("Sec-WebSocket-Version") != "13")
        throw Error(ErrorCode::invalid_argument, "websocket version must be 13");
    context.sessions->get(
        SessionOwner(),
        request.params.at("id"));  // an absent session is answered 404 before the token is checked
    Response response;
    const std::string& id = request.params.at("id");
    response.websocket = role == SocketRole::media
                             ? media_socket(context, id, request)
                             : context.sessions->socket(id, role, request.query_value("token"));
    return response;
}

}  // namespace

std::vector<Route> socket_routes(const RouteContext& context) {
    std::vector<Route> routes;
    const auto add = [&](const std::string& sessions, SocketRole role) {
        const std::string word(to_text(role));
        routes.push_back(
            {Method::get, sessions + "/{id}/sockets/" + word, Access::everyone, Dispatch::on_pool,
             "streaming_websocket_" + word,
             [&context, role](Request& request) { return open_socket(context, request, role); }});
    };
    for (const char* sessions : {"/1.0/sessions", "/1.0/session"})
        for (const SocketRole role : {SocketRole::master, SocketRole::slave}) add(sessions, role);
    add("/1.0/sessions", SocketRole::media);
    return routes;
}

}  // namespace svc::gateway

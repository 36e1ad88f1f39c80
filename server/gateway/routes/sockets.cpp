// The two sockets of a session. Who may open one is said by the token in the address.
#include "libsvc/base/error.h"
#include "server/gateway/routes/routes.h"

namespace svc::gateway {

namespace {

// What cannot become a WebSocket must not use up its token.
Response open_socket(const RouteContext& context, const Request& request, SocketRole role) {
    if (!request.wants_websocket()) throw Error(ErrorCode::invalid_argument, "websocket upgrade expected");
    if (request.headers.get("Sec-WebSocket-Version") != "13")
        throw Error(ErrorCode::invalid_argument, "websocket version must be 13");
    context.sessions->get(SessionOwner(), request.params.at("id"));  // before the token is looked at: 404
    Response response;
    response.websocket =
        context.sessions->socket(request.params.at("id"), role, request.query_value("token"));
    return response;
}

}  // namespace

std::vector<Route> socket_routes(const RouteContext& context) {
    std::vector<Route> routes;
    for (const char* sessions : {"/1.0/sessions", "/1.0/session"})
        for (const SocketRole role : {SocketRole::master, SocketRole::slave}) {
            const std::string word(to_text(role));
            routes.push_back(
                {Method::get, std::string(sessions) + "/{id}/sockets/" + word, Access::everyone,
                 Dispatch::on_pool, "streaming_websocket_" + word,
                 [&context, role](Request& request) { return open_socket(context, request, role); }});
        }
    return routes;
}

}  // namespace svc::gateway

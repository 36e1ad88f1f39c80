// Requests to every route of the management API, as they come from a connection: request line with path,
// query and filters, headers, body. What is not answered is refused with an Error.
#include <cstdlib>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/net/http/http_parser.h"
#include "tests/fuzz/api_world.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::api_target {

namespace {

std::optional<Request> read_request(std::string_view text) {
    net::RequestParser parser(16384, 50);
    net::InputBuffer in;
    in.append(text.data(), text.size());
    if (!parser.take_header(in)) return std::nullopt;
    Request request = parser.request();
    char piece[512];
    while (const std::size_t got = parser.take_body(in, piece, sizeof piece)) request.body.append(piece, got);
    return request;
}

Response answer(const Router& router, Request& request) {
    Router::Match match = router.match(request.method, request.path);
    if (match.route == nullptr) throw Error(ErrorCode::not_found, "not found");
    request.route = match.route;
    request.params = std::move(match.params);
    request.id = "fuzz";
    request.peer = std::make_shared<Peer>();
    const bool upload =
        match.route->open_upload && request.headers.get("Content-Type") == "application/octet-stream";
    if (upload) {
        request.upload = match.route->open_upload(request);
        request.upload->write(request.body);
        request.upload->finish();
        request.body.clear();
    }
    return match.route->handler(request);
}

}  // namespace

FUZZ_TARGET(api)(const std::uint8_t* data, std::size_t size) {
    static ApiWorld world;
    try {
        auto request = read_request({reinterpret_cast<const char*>(data), size});
        if (!request) return 0;
        const Response response = answer(world.router(), *request);
        if (response.status < 100 || response.status > 599) std::abort();
    } catch (const Error&) {
        return 0;
    }
    return 0;
}

}  // namespace svc::fuzz::api_target

#pragma once
// What a handler answers: a whole body, a stream of unknown or known length, or an upgrade to WebSocket.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/error.h"
#include "libsvc/net/http/request.h"

namespace svc {

class WebSocketHandler;

// Produces a body in pieces. read() runs on pool threads, one call at a time, only when the client can take
// more.
class BodySource {
  public:
    virtual ~BodySource() = default;
    virtual std::string read(std::size_t at_most) = 0;  // "" ends the body; an Error breaks the connection
    virtual std::optional<std::uint64_t> length() const = 0;
};

struct Response;
// Finishes a deferred response: from any thread, once. Calls after the connection went are harmless; one that
// is dropped without a call becomes an internal error.
using Responder = std::function<void(Response)>;

struct Response {
    int status = 200;
    Headers headers;  // Content-Length, Connection and Date are the server's
    std::string body;
    std::unique_ptr<BodySource> source;  // instead of `body`
    // Instead of both: 101 when the request asks for it, else 400.
    std::shared_ptr<WebSocketHandler> websocket;
    // Instead of all: called where the handler ran; the response comes when the Responder is called. No
    // thread is held meanwhile (waiting for an operation).
    std::function<void(Responder)> later;
    bool close = false;  // end the connection after this response
};

Response json_response(int status, std::string body);  // `body`: JSON text
// What a refusal's status means to the one who asked: model's http_status() the other way round.
ErrorCode error_code_of_status(int http_status);

}  // namespace svc

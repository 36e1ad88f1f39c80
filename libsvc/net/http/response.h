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
    // False: the body may go on for ever, and HttpServer::disconnect() does not wait for its end.
    virtual bool ends_by_itself() const { return length().has_value(); }
    // Bytes of memory that the source holds until it goes: they count as a large reply does.
    virtual std::size_t held_bytes() const { return 0; }
};

struct Response;
// Answers a request whose handler has returned. Any thread may call it, once; a call after the connection has
// ended does nothing. When the last copy is destroyed without a call, the answer is an internal error.
using Responder = std::function<void(Response)>;

struct Response {
    int status = 200;
    Headers headers;  // Content-Length, Connection and Date are the server's
    std::string body;
    std::unique_ptr<BodySource> source;  // instead of `body`
    // Instead of both: the reply is 101, or 400 when the request asks for no WebSocket.
    std::shared_ptr<WebSocketHandler> websocket;
    // Instead of all: called on the handler's thread; the response is sent when the Responder is called. No
    // thread is held meanwhile (for example, until an operation has ended).
    std::function<void(Responder)> later;
    bool close = false;  // end the connection after this response
};

Response json_response(int status, std::string body);  // `body`: JSON text
// Maps an HTTP status to an ErrorCode: the reverse of http_status() in model.
ErrorCode error_code_of_status(int http_status);

}  // namespace svc

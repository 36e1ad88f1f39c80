#pragma once
// Internal to this folder: where the response of a handler arrives that answers later.
#include <exception>
#include <memory>
#include <optional>

#include "libsvc/net/http/response.h"
#include "libsvc/net/server/connection.h"

namespace svc::net {

// The I/O thread makes it and asks it; any thread fills it.
class LaterReply {
  public:
    explicit LaterReply(const std::shared_ptr<Connection>& connection) : connection_(connection) {}
    // What the handler calls, once, on any thread.
    static Responder responder(std::shared_ptr<LaterReply> reply, const std::shared_ptr<IoLoop>& loop);
    bool ready() const { return response_.has_value() || fault_; }
    // Moves the response out, or returns the fault that is to be answered instead.
    std::exception_ptr take(Response& out);

  private:
    class Ticket;
    void arrive(Response* response);  // null: the Responder was dropped without a call

    // A reference to the loop would be a circle: what is posted after the loop's end stays in it.
    const std::weak_ptr<Connection> connection_;
    std::optional<Response> response_;  // the I/O thread alone touches it, and fault_
    std::exception_ptr fault_;
};

}  // namespace svc::net

#pragma once
// Internal to this folder: where a deferred response arrives.
#include <exception>
#include <memory>
#include <optional>

#include "libsvc/net/http/response.h"
#include "libsvc/net/server/connection.h"

namespace svc::net {

// Made and asked on the I/O thread, filled from any.
class LaterReply {
  public:
    explicit LaterReply(const std::shared_ptr<Connection>& connection) : connection_(connection) {}
    static Responder responder(std::shared_ptr<LaterReply> reply,
                               std::shared_ptr<IoLoop> loop);  // any thread
    bool ready() const { return response_.has_value() || fault_; }
    // Moves the response out, or returns what to tell instead.
    std::exception_ptr take(Response& out);

  private:
    class Ticket;
    void arrive(Response* response);  // null: nobody answered

    // Not the loop: an answer that comes after its end stays in it, and would keep it alive for ever.
    const std::weak_ptr<Connection> connection_;
    std::optional<Response> response_;  // this and what follows: the I/O thread alone
    std::exception_ptr fault_;
};

}  // namespace svc::net

#pragma once
// Internal to this folder: sends the reply of one request.
#include "libsvc/net/server/exchange.h"
#include "libsvc/net/server/pool_task.h"

namespace svc::net {

// What it is given outlives send().
class ReplySender {
  public:
    template <class T>
    using Task = Connection::Task<T>;

    ReplySender(Connection& connection, Exchange& exchange) : connection_(connection), x_(exchange) {}
    // Replaces the reply by the service's answer to x.fault where there is one, which may come later, and
    // checks that a WebSocket can begin.
    void settle();
    // The reply is there. `nothing_follows`: the client has sent all its requests, and the connection is not
    // kept.
    void prepare(bool nothing_follows);
    // False when the connection broke, or the reply's source failed.
    Task<bool> send();

  private:
    void replace_by_fault();
    void check_upgrade();
    void name_subprotocol();
    Task<bool> send_whole();
    Task<bool> send_source();
    Task<bool> send_pieces(bool chunked, std::optional<std::uint64_t> length);

    Connection& connection_;
    Exchange& x_;
};

}  // namespace svc::net

#pragma once
// Internal to this folder: the requests and replies of one connection, one after the other.
#include <memory>

#include "libsvc/net/server/exchange.h"
#include "libsvc/net/server/later_reply.h"

namespace svc::net {

// What the connections of one listening socket have in common.
struct Listener {
    std::shared_ptr<TlsContext> tls;  // null: plain
    ListenerLimits limits;
};

class HttpSession {
  public:
    template <class T>
    using Task = Connection::Task<T>;

    // Serves the connection until it ends or becomes a WebSocket.
    static Task<void> serve(std::shared_ptr<Connection> connection, std::shared_ptr<const Listener> listener);

  private:
    HttpSession(std::shared_ptr<Connection> connection, Connection::Instant header_deadline)
        : connection_(std::move(connection)), header_deadline_(header_deadline) {}

    Task<bool> exchange();
    Task<bool> await_request();
    Task<bool> answer(Exchange& x);

    Task<bool> receive_header(Exchange& x);
    Task<void> await_room_for_reply(Exchange& x);
    bool parse_header(Exchange& x);
    void plan(Exchange& x);
    Task<void> run_handler(Exchange& x);
    Task<void> await_fault_reply(Exchange& x);
    Task<void> await_later(Exchange& x, std::shared_ptr<LaterReply> later);
    void finish(Exchange& x, int status);
    ServerShare& share() { return connection_->share(); }

    std::shared_ptr<Connection> connection_;
    InputBuffer in_;
    Connection::Instant header_deadline_;  // of the present request
    unsigned served_ = 0;
};

}  // namespace svc::net

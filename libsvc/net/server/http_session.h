#pragma once
// Internal to this folder: the requests and replies of one connection, one after the other.
#include <memory>

#include "libsvc/net/server/exchange.h"
#include "libsvc/net/server/later_reply.h"

namespace svc::net {

class HttpSession {
  public:
    template <class T>
    using Task = Connection::Task<T>;

    // Serves the connection until it ends or becomes a WebSocket.
    static Task<void> serve(std::shared_ptr<Connection> connection);

  private:
    explicit HttpSession(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

    Task<bool> exchange();
    Task<bool> await_request();
    Task<bool> answer(Exchange& x);

    Task<bool> receive_header(Exchange& x);
    bool parse_header(Exchange& x);
    void plan(Exchange& x);
    Task<void> run_handler(Exchange& x);
    Task<void> await_later(Exchange& x, std::shared_ptr<LaterReply> later);
    void finish(Exchange& x, int status);
    ServerShare& share() { return connection_->share(); }

    std::shared_ptr<Connection> connection_;
    InputBuffer in_;
    unsigned served_ = 0;
};

}  // namespace svc::net

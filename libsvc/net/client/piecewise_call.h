#pragma once
// An HTTP call whose body is sent, and whose reply is read, in pieces that the caller asks for: for a program
// that passes on what comes to it.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/client_message.h"

namespace svc {

// One thread at a time. Everything throws unavailable when the connection breaks.
class PiecewiseCall {
  public:
    class Connection;
    using Keep = std::function<void(std::unique_ptr<Connection>)>;

    // `request.source` set: a body comes by send_piece(), with request.length as its Content-Length or in
    // chunks. Else request.body is the body. `keep` takes the connection when the reply was read to its end.
    PiecewiseCall(std::unique_ptr<Connection> connection, ClientRequest request, Keep keep);
    ~PiecewiseCall();
    void send_head();  // and request.body
    void send_piece(std::string_view piece);
    void end_body();        // of one that is sent in chunks
    bool answered() const;  // the server has begun to say something
    // Waits for the head of the reply. `go_on` is asked each second; false ends it with unavailable.
    const ClientReply& reply(const std::function<bool()>& go_on);
    // The next bytes of the reply's body; "" at its end.
    std::string read(std::size_t at_most);

  private:
    bool receive(std::chrono::milliseconds limit);
    void end();
    struct State;
    std::unique_ptr<State> state_;
};

// Thread-safe. Keeps up to 16 idle connections, each shorter than a server of ours does, so that a kept one
// is not found closed.
class PiecewiseClient {
  public:
    explicit PiecewiseClient(Target target);
    ~PiecewiseClient();  // calls may outlive it
    // Connects, or takes a kept connection. `limit` is for each step of that. Nothing is sent yet. Throws
    // unavailable.
    std::unique_ptr<PiecewiseCall> begin(ClientRequest request, std::chrono::milliseconds limit);
    const Target& target() const { return target_; }

  private:
    class Pool;
    const Target target_;
    std::shared_ptr<Pool> pool_;
};

}  // namespace svc

#pragma once
// WebSockets that a follower relays: messages and close codes both ways.
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "libsvc/net/websocket/websocket.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc::server {

// Thread-safe. Each relay has two threads: one waits for the leader, one for room at the leader.
class WebSocketRelays {
  public:
    explicit WebSocketRelays(std::size_t most);
    ~WebSocketRelays();  // stop()
    // The client's end of a relay to `leader`. Throws exhausted when there are too many.
    std::shared_ptr<WebSocketHandler> add(WebSocketClient leader);
    void stop();  // ends all and joins their threads

  private:
    class Relay;
    struct Running {
        std::shared_ptr<Relay> relay;
        std::jthread reader, writer;
    };
    void drop_ended();

    const std::size_t most_;
    std::mutex mutex_;
    std::list<Running> running_;
    bool stopped_ = false;
};

}  // namespace svc::server

#pragma once
// Internal to the folder net: the protocol of a connection after its upgrade. UpgradedConnection moves the
// bytes; this interface gives them a meaning. Its one implementation (websocket.cpp) needs wslay, which the
// statically linked agent cannot have: through the interface, only programs with WebSocket handlers link it.
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "libsvc/net/websocket/websocket.h"

namespace svc::net {

struct UpgradedSettings {
    WebSocketLimits limits;
    bool pings = false;
    // Both make the connection call its session again, soon, on its I/O thread. Any thread may call them, at
    // any time.
    std::function<void()> wake;
    std::function<void()> wake_in_batch;  // together with other connections; take_turn() comes first
};

// The connection calls all of it on its I/O thread.
class UpgradedSession {
  public:
    using Instant = std::chrono::steady_clock::time_point;
    enum class Phase {
        open,
        ended,
        broken
    };  // `ended`: close when all output is sent; `broken`: close at once

    virtual ~UpgradedSession() = default;
    virtual void open() = 0;
    virtual void take_turn() = 0;
    virtual Phase phase() = 0;
    virtual bool wants_input() const = 0;
    virtual void input(std::string_view data) = 0;
    virtual std::string_view output() = 0;  // what to send next; "": nothing now
    virtual void output_sent(std::size_t bytes) = 0;
    virtual void output_lost() = 0;  // nothing can be sent any more; input may still come
    virtual Instant next_tick() const = 0;
    virtual void tick(Instant now) = 0;
    virtual void lost() = 0;                                        // the connection broke
    virtual void end(CloseCode code, std::string_view reason) = 0;  // the server ends it
};

}  // namespace svc::net

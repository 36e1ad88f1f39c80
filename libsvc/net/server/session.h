#pragma once
// Internal to this folder: the two halves of an upgraded connection. Bytes move in upgraded.cpp; what they
// mean is known to a Session, which only programs with WebSocket handlers link.
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "libsvc/net/websocket/websocket.h"

namespace svc::net {

struct SessionSettings {
    WebSocketLimits limits;
    bool pings = false;
    std::function<void()> wake;       // any thread, any time: have the connection look at its session again
    std::function<void()> wake_soon;  // the same, together with others: take_turn() comes first
};

// All calls come on the connection's I/O thread.
class Session {
  public:
    using Instant = std::chrono::steady_clock::time_point;
    enum class Phase { open, ended, broken };  // `ended`: close once all output left; `broken`: at once

    virtual ~Session() = default;
    virtual void open() = 0;
    virtual void take_turn() = 0;
    virtual Phase phase() = 0;
    virtual bool wants_input() const = 0;
    virtual void input(std::string_view data) = 0;
    virtual std::string_view output() = 0;  // what to send next; "": nothing now
    virtual void output_sent(std::size_t bytes) = 0;
    virtual void output_lost() = 0;  // nothing more can be sent, though there may be input still
    virtual Instant next_tick() const = 0;
    virtual void tick(Instant now) = 0;
    virtual void lost() = 0;                                        // the connection broke
    virtual void end(CloseCode code, std::string_view reason) = 0;  // asked by the server
};

}  // namespace svc::net

#pragma once
// The instance's end of its master socket at the gateway: connects again and again, with growing pauses.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/net/client/target.h"

namespace svc {
class WebSocketClient;
}

namespace svc::streamer {

// Where the gateway wants us, and how to know it: of the user data's `streaming`.
struct GatewayAddress {
    Target target;
    std::string path;  // with the query; holds a token, so it is not logged
    // "wss://host:port/path?query" or "ws://..."; throws invalid_argument. `server_name`: whom to ask for by
    // TLS; "": the host.
    static GatewayAddress parse(const std::string& url, const std::string& fingerprint,
                                const std::string& server_name = "");
};

// What the link tells, on its own thread.
struct GatewayListener {
    std::function<void()> opened;
    std::function<void(std::string message)> message;
    std::function<void()> lost;
};

// Thread-safe. The destructor sends what waits, for at most a second.
class GatewayLink {
  public:
    static constexpr std::size_t max_waiting =
        1024;  // messages; more means the gateway is stuck: connects anew
    static constexpr std::chrono::seconds first_pause{1}, longest_pause{30}, settled{10};

    GatewayLink(GatewayAddress address, Clock& clock, GatewayListener listener);
    ~GatewayLink();
    GatewayLink(const GatewayLink&) = delete;
    GatewayLink& operator=(const GatewayLink&) = delete;
    void send(std::string message);  // dropped while there is no connection

  private:
    void run(const std::stop_token& stop);
    bool serve_once();  // false: no connection came about
    void receive(WebSocketClient& socket);
    void send_waiting(const std::stop_token& stop, WebSocketClient& socket);
    void shut_down();  // under the lock

    const GatewayAddress address_;
    Clock& clock_;
    GatewayListener listener_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::shared_ptr<WebSocketClient> socket_;  // null: not connected
    std::deque<std::string> waiting_;
    bool sending_ = false;
    bool ending_ = false;
    std::jthread thread_;  // last: starts when all else is there
};

}  // namespace svc::streamer

#pragma once
// The instance's WebSocket to the gateway, or to one of several that are equal. Reconnects with growing
// pauses.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/net/client/target.h"

namespace svc {
class WebSocketClient;
}

namespace svc::streamer {

// The address of the gateway and how to verify it, from `streaming` in the user data.
struct GatewayAddress {
    Target target;
    std::vector<Target> others = {};  // gateways that are as good
    std::string path;                 // includes the query; holds a token, so it is never logged
    // "wss://host:port/path?query" or "ws://..."; throws invalid_argument. `server_name`: the name for TLS
    // (SNI); "": the host.
    static GatewayAddress parse(const std::string& url, const std::string& fingerprint,
                                const std::string& server_name = "");
    // "wss://host:port" of one that is known by the same certificate; throws invalid_argument.
    void add_other(const std::string& url);
};

// Callbacks of the link, on its own thread.
struct GatewayListener {
    std::function<void()> opened;
    std::function<void(std::string message)> message;
    std::function<void()> lost;
};

// Thread-safe. The destructor sends waiting messages for a limited time.
class GatewayLink {
  public:
    static constexpr std::size_t max_waiting =
        1024;  // messages; with more the gateway is stuck, and the link reconnects
    static constexpr std::chrono::seconds first_pause{1}, longest_pause{30}, settled{10};
    static constexpr std::chrono::seconds patience{10};  // of each step of connecting, until the next gateway

    GatewayLink(GatewayAddress address, Clock& clock, GatewayListener listener);
    ~GatewayLink();
    GatewayLink(const GatewayLink&) = delete;
    GatewayLink& operator=(const GatewayLink&) = delete;
    void send(std::string message);  // dropped while not connected

  private:
    void run(const std::stop_token& stop);
    bool serve(const std::stop_token& stop);  // false: could not connect to any gateway
    bool serve_once(const std::stop_token& stop, const Target& gateway);  // false: could not connect
    void receive(WebSocketClient& socket);
    void send_waiting(const std::stop_token& stop, WebSocketClient& socket);
    void shut_down();  // under the lock

    const std::string path_;
    const std::vector<Target> gateways_;
    std::size_t present_ = 0;  // of gateways_: the one that served last. The thread's
    Clock& clock_;
    GatewayListener listener_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::shared_ptr<WebSocketClient> socket_;  // null: not connected
    std::deque<std::string> waiting_;
    bool sending_ = false;
    bool ending_ = false;
    std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace svc::streamer

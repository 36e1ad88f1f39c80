#pragma once
// The leader's side of a link (link_server.h): keeps the connection to one node, makes calls, hears of
// events.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

struct LinkTimes {
    std::chrono::milliseconds patience{5000};   // a call waits so long for a node whose connection was lost
    std::chrono::milliseconds silence{10'000};  // of a node that counts as lost
    std::chrono::milliseconds pause{500};       // between tries to connect
    std::chrono::milliseconds answer{10'000};   // of a call that reads, or changes a setting of the node
};

// Called on a thread of the link, one after the other. After `connected` nothing is missed: every event that
// is not told is older than the answers to calls made after it.
struct LinkListener {
    std::function<void()> connected;
    std::function<void(const std::string& why)> lost;  // also when the first try to connect fails
    std::function<void(const RuntimeEvent&)> event;
    std::function<void(std::uint64_t term)> outdated = {};  // the node follows the leader of that term
};

struct LinkCall {
    std::string name;
    Json arguments = Json::object();
    std::stop_token stop = {};  // when requested, the node is asked to end the call; its answer is awaited
    std::function<void(std::uint64_t bytes, std::uint64_t total)> progress = {};
    std::optional<std::chrono::milliseconds> limit = {};  // of the whole call: throws unavailable
};

// Thread-safe.
class LinkClient {
  public:
    // `term`: of this leader, asked for each connection.
    LinkClient(Target target, std::string name, std::function<std::uint64_t()> term, LinkListener listener,
               LinkTimes times);
    ~LinkClient();
    LinkClient(const LinkClient&) = delete;
    LinkClient& operator=(const LinkClient&) = delete;

    // The answer. Throws the node's error; unavailable "node m2 is offline" when there is no connection, or
    // it was lost three times before the answer; conflict when the node follows a newer leader.
    Json call(const LinkCall& call);
    bool connected() const;
    std::string fault() const;  // why it is not connected

  private:
    struct Pending {
        std::optional<Json> reply;
        bool lost = false;
        const LinkCall* call = nullptr;
    };
    using Steady = std::chrono::steady_clock;
    using Lock = std::unique_lock<std::mutex>;

    void run(const std::stop_token& stop);
    void follow(const std::shared_ptr<WebSocketClient>& socket, const std::stop_token& stop);
    void take(const Json& message);
    void lose(const std::string& why, std::uint64_t newer_term = 0);
    std::shared_ptr<WebSocketClient> await_socket(Lock& lock, Steady::time_point deadline);
    std::optional<Json> attempt(const LinkCall& call, Steady::time_point deadline);
    void send(WebSocketClient& socket, const Json& message);
    void report(std::int64_t number, const Json& message);
    Error offline() const;

    const Target target_;
    const std::string name_;
    const std::function<std::uint64_t()> term_;
    const LinkListener listener_;
    const LinkTimes times_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<WebSocketClient> socket_;  // null: not connected
    Steady::time_point lost_at_ = Steady::now();
    std::string fault_;
    std::uint64_t outdated_ = 0;  // the node has refused us: it knows the leader of that newer term
    std::map<std::int64_t, Pending> pending_;
    std::int64_t last_number_ = 0;
    std::mutex send_mutex_;  // the parts of a message stay together
    std::stop_source stopping_;
    ThreadPool listeners_{"node-events", 1, 1'000'000};
    std::jthread thread_;
};

}  // namespace svc::node

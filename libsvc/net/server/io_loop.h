#pragma once
// Internal to this folder: one I/O thread's event loop with the connections that live on it, and what all
// share.
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <unordered_map>

#include "libsvc/base/guarded.h"
#include "libsvc/net/server/server.h"

namespace svc::net {

class Connection;
class Upgraded;

// What the whole server shares. Thread-safe.
struct ServerShare {
    ServerShare(HttpService& service, ThreadPool& pool, const ServerLimits& limits)
        : service(service), pool(pool), limits(limits) {}

    HttpService& service;
    ThreadPool& pool;
    const ServerLimits limits;
    std::atomic<bool> stopping{false};
    std::atomic<std::uint64_t> next_id{1};
    std::atomic<std::size_t> websockets{0};
    std::atomic<std::size_t> uploads{0};

    std::size_t connections() const {
        std::lock_guard lock(mutex_);
        return connections_;
    }
    // False when the limit is reached.
    bool add_connection() {
        std::lock_guard lock(mutex_);
        if (connections_ >= limits.max_connections) return false;
        ++connections_;
        return true;
    }
    void remove_connection() {
        std::lock_guard lock(mutex_);
        if (--connections_ == 0) none_left_.notify_all();
    }
    bool wait_until_none(std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        return none_left_.wait_for(lock, limit, [this] { return connections_ == 0; });
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    std::size_t connections_ = 0;
};

// Upgraded connections that asked for a turn. See turns.h.
struct Turns {
    explicit Turns(boost::asio::io_context& context) : pause(context) {}

    Guarded<std::vector<std::weak_ptr<Upgraded>>> asking;
    // What follows is touched by the I/O thread alone.
    boost::asio::steady_timer pause;
    std::chrono::steady_clock::time_point next{};  // no turn begins before that
    std::vector<std::weak_ptr<Upgraded>> served;   // by the turn that is under way, from the back
};

// Held by shared_ptr: pool jobs and WebSockets post to it, perhaps after the server's end, when nothing runs
// it.
struct IoLoop {
    boost::asio::io_context context{1};
    Turns turns{context};
    std::array<char, 64U << 10> scratch;  // for reads that do not know yet whether anything is there
    std::unordered_map<std::uint64_t, Connection*> connections;           // touched by the I/O thread alone
    Guarded<std::map<std::uint64_t, std::shared_ptr<const Peer>>> peers;  // the same ones, for other threads
};

}  // namespace svc::net

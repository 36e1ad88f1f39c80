#pragma once
// Internal to this folder: the event loop of one I/O thread with its connections, and what all connections of
// a server share.
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <unordered_map>

#include "libsvc/base/guarded.h"
#include "libsvc/net/server/connection_limiter.h"
#include "libsvc/net/server/server.h"

namespace svc::net {

class Connection;
class UpgradedConnection;

// What all connections of a server share. Thread-safe.
struct ServerShare {
    ServerShare(HttpService& service, ThreadPool& pool, const ServerLimits& limits)
        : service(service), pool(pool), limits(limits), limiter(limits) {}

    HttpService& service;
    ThreadPool& pool;
    const ServerLimits limits;
    ConnectionLimiter limiter;
    std::atomic<bool> stopping{false};
    std::atomic<std::uint64_t> next_id{1};
    std::atomic<std::size_t> websockets{0};
    std::atomic<std::size_t> uploads{0};
    std::atomic<std::size_t> reply_bytes{0};            // of large replies on their way to trusted peers
    std::atomic<std::size_t> untrusted_reply_bytes{0};  // and to others

    // How many of `most` things at once a connection may see taken and still take one.
    static std::size_t open_to(const ConnectionSlot& slot, std::size_t most) {
        return slot.standing() == Standing::reserved ? most : most - most / 8;
    }
    // Those that count for the connection; each kind waits for its own alone.
    std::atomic<std::size_t>& reply_bytes_of(const ConnectionSlot& slot) {
        return slot.standing() == Standing::untrusted ? untrusted_reply_bytes : reply_bytes;
    }
    bool has_room_for_reply(const ConnectionSlot& slot) {
        const std::size_t quarter = limits.reply_bytes / 4;
        const bool untrusted = slot.standing() == Standing::untrusted;
        return reply_bytes_of(slot) < (untrusted ? quarter : limits.reply_bytes - quarter);
    }
};

// The upgraded connections of an I/O thread that are to be woken together. See wake_batch.h.
struct WakeBatches {
    explicit WakeBatches(boost::asio::io_context& context) : pause(context) {}

    Guarded<std::vector<std::weak_ptr<UpgradedConnection>>> waiting;  // for the next batch
    // The I/O thread alone touches the members below.
    boost::asio::steady_timer pause;
    std::chrono::steady_clock::time_point next{};            // no batch begins before
    std::vector<std::weak_ptr<UpgradedConnection>> current;  // what is left of a batch, from the back
};

// Held by shared_ptr, because pool jobs and WebSockets may post to a loop after its server has ended. Nothing
// runs what is posted then.
struct IoLoop {
    boost::asio::io_context context{1};
    WakeBatches wakes{context};
    std::array<char, 64U << 10> scratch;  // receives what a read finds; only then memory is taken
    std::unordered_map<std::uint64_t, Connection*> connections;  // the I/O thread alone touches it
    Guarded<std::map<std::uint64_t, std::shared_ptr<const Peer>>>
        peers;  // of the same connections, for other threads
};

}  // namespace svc::net

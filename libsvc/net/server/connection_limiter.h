#pragma once
// Internal to this folder: how many connections each listener and each peer has, and how many bytes of
// requests they hold in memory.
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/net/server/server.h"

namespace svc::net {

class ConnectionLimiter;

// What one connection counts for; released with the object. Thread-safe. The limiter outlives it.
class ConnectionSlot {
  public:
    ConnectionSlot(ConnectionLimiter& limiter, Standing standing, std::string listener, std::string source);
    ~ConnectionSlot();
    ConnectionSlot(const ConnectionSlot&) = delete;
    ConnectionSlot& operator=(const ConnectionSlot&) = delete;

    // The peer has proved who it is. A standing is never lowered.
    void raise(Standing standing);
    // The connection holds so many bytes of requests now; a few are not charged. False: there is no room for
    // more; what it held before stays charged.
    bool charge(std::size_t bytes);
    // `close` ends the connection, soon and on its own thread: another peer gets the slot. Without it
    // the connection is not evicted.
    void on_evict(std::function<void()> close);
    Standing standing() const { return standing_; }

  private:
    friend class ConnectionLimiter;

    ConnectionLimiter& limiter_;
    std::atomic<Standing> standing_;
    const std::string listener_, source_;  // what an untrusted connection counts for
    std::atomic<std::size_t> held_{0};
    bool entered_ = false;         // it is counted
    std::function<void()> close_;  // guarded by the lock of the limiter, as is what follows
};

// Thread-safe.
class ConnectionLimiter {
  public:
    explicit ConnectionLimiter(const ServerLimits& limits) : limits_(limits) {}

    // Null: the server, the listener or the peer has as many as it may have. When the listener's slots for
    // those that are not trusted are taken, the peer with the most of them loses its oldest, unless the new
    // one has about as many.
    std::unique_ptr<ConnectionSlot> acquire(const ListenerLimits& listener, const Peer& peer);
    std::size_t taken() const;
    bool wait_until_none(std::chrono::milliseconds limit);

  private:
    friend class ConnectionSlot;
    struct Count {
        std::size_t connections = 0, bytes = 0;
    };
    using Counts = std::map<std::string, Count>;
    template <class Change>
    void for_each_count(const ConnectionSlot& slot, Standing standing, Change&& change);

    bool has_slot(const ListenerLimits& listener, const ConnectionSlot& slot) const;
    bool has_slot_at_listener(const ListenerLimits& listener, const ConnectionSlot& slot) const;
    std::function<void()> evict_for(const ConnectionSlot& wanted);
    void make_evictable(ConnectionSlot& slot, std::function<void()> close);
    void forget_evictable(const ConnectionSlot& slot);
    void move(ConnectionSlot& slot, Standing standing);
    bool has_room(const ConnectionSlot& slot, std::size_t more) const;
    void enter(ConnectionSlot& slot);
    void leave(const ConnectionSlot& slot);
    bool change(ConnectionSlot& slot, std::size_t bytes);
    void raise(ConnectionSlot& slot, Standing standing);

    const ServerLimits limits_;
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    Count all_, unreserved_, untrusted_;  // each counts those of the next as well
    Counts listeners_;                    // untrusted ones, by listener
    Counts sources_;                      // untrusted ones, by listener and peer; none without connections
    std::map<std::string, std::vector<ConnectionSlot*>> evictable_;  // by source as well, oldest first
};

}  // namespace svc::net

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

class Places;

// What one connection counts for; given back with the object. Thread-safe. The Places outlive it.
class Place {
  public:
    Place(Places& places, Standing standing, std::string listener, std::string source);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // The peer has proved who it is. A standing is never lowered.
    void raise(Standing standing);
    // The connection holds so many bytes of requests now; a few are not counted. False: there is no room for
    // more; what it held before stays counted.
    bool hold(std::size_t bytes);
    // `close` ends the connection, soon and on its own thread: another peer needs the place. Without it the
    // place is nobody else's.
    void give_way_by(std::function<void()> close);
    Standing standing() const { return standing_; }

  private:
    friend class Places;

    Places& places_;
    std::atomic<Standing> standing_;
    const std::string listener_, source_;  // what an untrusted connection counts for
    std::atomic<std::size_t> held_{0};
    bool entered_ = false;         // it is counted
    std::function<void()> close_;  // guarded by the lock of the Places, as is what follows
};

// Thread-safe.
class Places {
  public:
    explicit Places(const ServerLimits& limits) : limits_(limits) {}

    // Null: the server, the listener or the peer has as many as it may have. When the listener's places for
    // those that are not trusted are taken, the peer with the most of them loses its oldest, unless the new
    // one has about as many.
    std::unique_ptr<Place> take(const ListenerLimits& listener, const Peer& peer);
    std::size_t taken() const;
    bool wait_until_none(std::chrono::milliseconds limit);

  private:
    friend class Place;
    struct Count {
        std::size_t connections = 0, bytes = 0;
    };
    using Counts = std::map<std::string, Count>;
    template <class Change>
    void for_each_count(const Place& place, Standing standing, Change&& change);

    bool has_place(const ListenerLimits& listener, const Place& place) const;
    bool has_place_at_listener(const ListenerLimits& listener, const Place& place) const;
    std::function<void()> make_place(const Place& wanted);
    void let_give_way(Place& place, std::function<void()> close);
    void forget_giving_way(const Place& place);
    void move(Place& place, Standing standing);
    bool has_room(const Place& place, std::size_t more) const;
    void enter(Place& place);
    void leave(const Place& place);
    bool change(Place& place, std::size_t bytes);
    void raise(Place& place, Standing standing);

    const ServerLimits limits_;
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    Count all_, unreserved_, untrusted_;  // each counts those of the next as well
    Counts listeners_;                    // untrusted ones, by listener
    Counts sources_;                      // untrusted ones, by listener and peer; none without connections
    std::map<std::string, std::vector<Place*>> giving_way_;  // by source as well, oldest first
};

}  // namespace svc::net

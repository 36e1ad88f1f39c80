#pragma once
// Internal to this folder: how many connections each listener and each peer has, and how many bytes of
// requests they hold in memory.
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

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
    Standing standing() const { return standing_; }

  private:
    friend class Places;

    Places& places_;
    std::atomic<Standing> standing_;
    const std::string listener_, source_;  // what an untrusted connection counts for
    std::atomic<std::size_t> held_{0};
    bool entered_ = false;  // it is counted
};

// Thread-safe.
class Places {
  public:
    explicit Places(const ServerLimits& limits) : limits_(limits) {}

    // Null: the server, the listener or the peer has as many as it may have.
    std::unique_ptr<Place> take(const ListenerLimits& listener, const Peer& peer);
    std::size_t taken() const;
    bool wait_until_none(std::chrono::milliseconds limit);

  private:
    friend class Place;
    struct Count {
        std::size_t connections = 0, bytes = 0;
    };
    template <class Change>
    void for_each_count(const Place& place, Standing standing, Change&& change);

    bool has_place(const ListenerLimits& listener, const Place& place) const;
    bool has_room(const Place& place, std::size_t more) const;
    void enter(Place& place);
    void leave(const Place& place);
    bool change(Place& place, std::size_t bytes);
    void raise(Place& place, Standing standing);

    const ServerLimits limits_;
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    Count all_, unreserved_, untrusted_;      // each counts those of the next as well
    std::map<std::string, Count> listeners_;  // untrusted ones, by listener
    std::map<std::string, Count> sources_;    // untrusted ones, by listener and peer
};

}  // namespace svc::net

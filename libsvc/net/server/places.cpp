#include "libsvc/net/server/places.h"

#include <algorithm>
#include <utility>

#include "libsvc/net/socket/network_of.h"

namespace svc::net {

namespace {

constexpr std::size_t uncounted_bytes = 4U << 10;  // the header of an ordinary request

// What root keeps for itself of a small server must not be all of it.
std::size_t kept_connections(const ServerLimits& limits) {
    return std::min(limits.reserved_connections, limits.max_connections / 4);
}

std::string source_of(const ListenerLimits& listener, const Peer& peer) {
    if (listener.source) return listener.source(peer);
    if (peer.transport == Transport::unix_socket) return "uid=" + std::to_string(peer.uid);
    return network_of(peer.address);
}

template <class Counts>
std::size_t connections_of(const Counts& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second.connections;
}

}  // namespace

Place::Place(Places& places, Standing standing, std::string listener, std::string source)
    : places_(places), standing_(standing), listener_(std::move(listener)), source_(std::move(source)) {}

Place::~Place() {
    places_.leave(*this);
}

void Place::raise(Standing standing) {
    if (standing > standing_) places_.raise(*this, standing);
}

bool Place::hold(std::size_t bytes) {
    const std::size_t counted = bytes <= uncounted_bytes ? 0 : bytes;
    return counted == held_ || places_.change(*this, counted);
}

void Place::give_way_by(std::function<void()> close) {
    if (standing_ == Standing::untrusted) places_.let_give_way(*this, std::move(close));
}

std::unique_ptr<Place> Places::take(const ListenerLimits& listener, const Peer& peer) {
    const Standing standing = listener.standing ? listener.standing(peer) : Standing::reserved;
    std::string source = standing == Standing::untrusted ? source_of(listener, peer) : "";
    auto place = std::make_unique<Place>(*this, standing, peer.listener, peer.listener + ' ' + source);
    std::function<void()> close_other;
    {
        const std::lock_guard lock(mutex_);
        if (!has_place(listener, *place)) return nullptr;
        if (!has_place_at_listener(listener, *place)) {
            close_other = make_place(*place);
            if (!close_other) return nullptr;
        }
        enter(*place);
    }
    if (close_other) close_other();
    return place;
}

bool Places::has_place(const ListenerLimits& listener, const Place& place) const {
    if (all_.connections >= limits_.max_connections) return false;
    if (place.standing_ == Standing::reserved) return true;
    if (unreserved_.connections >= limits_.max_connections - kept_connections(limits_)) return false;
    return place.standing_ == Standing::trusted || connections_of(sources_, place.source_) < listener.each;
}

bool Places::has_place_at_listener(const ListenerLimits& listener, const Place& place) const {
    return place.standing_ != Standing::untrusted ||
           connections_of(listeners_, place.listener_) < listener.untrusted;
}

// How to close the oldest connection of the peer that has the most at this listener; empty: none has more
// than the peer that wants one. What is to be closed is not counted for its peer any more.
std::function<void()> Places::make_place(const Place& wanted) {
    Place* oldest = nullptr;
    std::size_t most = connections_of(sources_, wanted.source_) + 1;
    for (const auto& [source, places] : giving_way_) {
        const std::size_t count = connections_of(sources_, source);
        if (places.front()->listener_ != wanted.listener_ || count <= most) continue;
        oldest = places.front();
        most = count;
    }
    if (oldest == nullptr) return {};
    std::function<void()> close = std::exchange(oldest->close_, nullptr);
    move(*oldest, Standing::trusted);
    return close;
}

void Places::let_give_way(Place& place, std::function<void()> close) {
    const std::lock_guard lock(mutex_);
    place.close_ = std::move(close);
    giving_way_[place.source_].push_back(&place);
}

void Places::forget_giving_way(const Place& place) {
    const auto found = giving_way_.find(place.source_);
    if (found == giving_way_.end()) return;
    std::erase(found->second, &place);
    if (found->second.empty()) giving_way_.erase(found);
}

// The counts that a connection with this standing is part of.
template <class Change>
void Places::for_each_count(const Place& place, Standing standing, Change&& change) {
    change(all_);
    if (standing == Standing::reserved) return;
    change(unreserved_);
    if (standing == Standing::trusted) return;
    change(untrusted_);
    change(listeners_[place.listener_]);
    const auto source = sources_.try_emplace(place.source_).first;
    change(source->second);
    if (source->second.connections == 0) sources_.erase(source);
}

void Places::enter(Place& place) {
    place.entered_ = true;
    for_each_count(place, place.standing_, [&](Count& count) {
        ++count.connections;
        count.bytes += place.held_;
    });
}

void Places::leave(const Place& place) {
    if (!place.entered_) return;
    const std::lock_guard lock(mutex_);
    forget_giving_way(place);
    for_each_count(place, place.standing_, [&](Count& count) {
        --count.connections;
        count.bytes -= place.held_;
    });
    if (all_.connections == 0) none_left_.notify_all();
}

bool Places::has_room(const Place& place, std::size_t more) const {
    const auto fits = [more](const Count& count, std::size_t most) { return count.bytes + more <= most; };
    if (!fits(all_, limits_.buffered_bytes)) return false;
    if (place.standing_ == Standing::reserved) return true;
    if (!fits(unreserved_, limits_.buffered_bytes - limits_.buffered_bytes / 4)) return false;
    if (place.standing_ == Standing::trusted) return true;
    return fits(untrusted_, limits_.untrusted_bytes) &&
           fits(sources_.at(place.source_), limits_.untrusted_bytes_each);
}

bool Places::change(Place& place, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > place.held_ && !has_room(place, bytes - place.held_)) return false;
    for_each_count(place, place.standing_, [&](Count& count) { count.bytes += bytes - place.held_; });
    place.held_ = bytes;
    return true;
}

void Places::raise(Place& place, Standing standing) {
    const std::lock_guard lock(mutex_);
    move(place, standing);
}

void Places::move(Place& place, Standing standing) {
    forget_giving_way(place);
    for_each_count(place, place.standing_, [&](Count& count) {
        --count.connections;
        count.bytes -= place.held_;
    });
    place.standing_ = standing;
    enter(place);
}

std::size_t Places::taken() const {
    const std::lock_guard lock(mutex_);
    return all_.connections;
}

bool Places::wait_until_none(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return none_left_.wait_for(lock, limit, [this] { return all_.connections == 0; });
}

}  // namespace svc::net

#include "libsvc/net/server/connection_limiter.h"

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

ConnectionSlot::ConnectionSlot(ConnectionLimiter& limiter, Standing standing, std::string listener,
                               std::string source)
    : limiter_(limiter), standing_(standing), listener_(std::move(listener)), source_(std::move(source)) {}

ConnectionSlot::~ConnectionSlot() {
    limiter_.leave(*this);
}

void ConnectionSlot::raise(Standing standing) {
    if (standing > standing_) limiter_.raise(*this, standing);
}

bool ConnectionSlot::charge(std::size_t bytes) {
    const std::size_t counted = bytes <= uncounted_bytes ? 0 : bytes;
    return counted == held_ || limiter_.change(*this, counted);
}

void ConnectionSlot::on_evict(std::function<void()> close) {
    if (standing_ == Standing::untrusted) limiter_.make_evictable(*this, std::move(close));
}

std::unique_ptr<ConnectionSlot> ConnectionLimiter::acquire(const ListenerLimits& listener, const Peer& peer) {
    const Standing standing = listener.standing ? listener.standing(peer) : Standing::reserved;
    std::string source = standing == Standing::untrusted ? source_of(listener, peer) : "";
    auto slot =
        std::make_unique<ConnectionSlot>(*this, standing, peer.listener, peer.listener + ' ' + source);
    std::function<void()> close_other;
    {
        const std::lock_guard lock(mutex_);
        if (!has_slot(listener, *slot)) return nullptr;
        if (!has_slot_at_listener(listener, *slot)) {
            close_other = evict_for(*slot);
            if (!close_other) return nullptr;
        }
        enter(*slot);
    }
    if (close_other) close_other();
    return slot;
}

bool ConnectionLimiter::has_slot(const ListenerLimits& listener, const ConnectionSlot& slot) const {
    if (all_.connections >= limits_.max_connections) return false;
    if (slot.standing_ == Standing::reserved) return true;
    if (unreserved_.connections >= limits_.max_connections - kept_connections(limits_)) return false;
    return slot.standing_ == Standing::trusted || connections_of(sources_, slot.source_) < listener.each;
}

bool ConnectionLimiter::has_slot_at_listener(const ListenerLimits& listener,
                                             const ConnectionSlot& slot) const {
    return slot.standing_ != Standing::untrusted ||
           connections_of(listeners_, slot.listener_) < listener.untrusted;
}

// How to close the oldest connection of the peer that has the most at this listener; empty: none has more
// than the peer that wants one. What is to be closed is not counted for its peer any more.
std::function<void()> ConnectionLimiter::evict_for(const ConnectionSlot& wanted) {
    ConnectionSlot* oldest = nullptr;
    std::size_t most = connections_of(sources_, wanted.source_) + 1;
    for (const auto& [source, slots] : evictable_) {
        const std::size_t count = connections_of(sources_, source);
        if (slots.front()->listener_ != wanted.listener_ || count <= most) continue;
        oldest = slots.front();
        most = count;
    }
    if (oldest == nullptr) return {};
    std::function<void()> close = std::exchange(oldest->close_, nullptr);
    move(*oldest, Standing::trusted);
    return close;
}

void ConnectionLimiter::make_evictable(ConnectionSlot& slot, std::function<void()> close) {
    const std::lock_guard lock(mutex_);
    slot.close_ = std::move(close);
    evictable_[slot.source_].push_back(&slot);
}

void ConnectionLimiter::forget_evictable(const ConnectionSlot& slot) {
    const auto found = evictable_.find(slot.source_);
    if (found == evictable_.end()) return;
    std::erase(found->second, &slot);
    if (found->second.empty()) evictable_.erase(found);
}

// The counts that a connection with this standing is part of.
template <class Change>
void ConnectionLimiter::for_each_count(const ConnectionSlot& slot, Standing standing, Change&& change) {
    change(all_);
    if (standing == Standing::reserved) return;
    change(unreserved_);
    if (standing == Standing::trusted) return;
    change(untrusted_);
    change(listeners_[slot.listener_]);
    const auto source = sources_.try_emplace(slot.source_).first;
    change(source->second);
    if (source->second.connections == 0) sources_.erase(source);
}

void ConnectionLimiter::enter(ConnectionSlot& slot) {
    slot.entered_ = true;
    for_each_count(slot, slot.standing_, [&](Count& count) {
        ++count.connections;
        count.bytes += slot.held_;
    });
}

void ConnectionLimiter::leave(const ConnectionSlot& slot) {
    if (!slot.entered_) return;
    const std::lock_guard lock(mutex_);
    forget_evictable(slot);
    for_each_count(slot, slot.standing_, [&](Count& count) {
        --count.connections;
        count.bytes -= slot.held_;
    });
    if (all_.connections == 0) none_left_.notify_all();
}

bool ConnectionLimiter::has_room(const ConnectionSlot& slot, std::size_t more) const {
    const auto fits = [more](const Count& count, std::size_t most) { return count.bytes + more <= most; };
    if (!fits(all_, limits_.buffered_bytes)) return false;
    if (slot.standing_ == Standing::reserved) return true;
    if (!fits(unreserved_, limits_.buffered_bytes - limits_.buffered_bytes / 4)) return false;
    if (slot.standing_ == Standing::trusted) return true;
    return fits(untrusted_, limits_.untrusted_bytes) &&
           fits(sources_.at(slot.source_), limits_.untrusted_bytes_each);
}

bool ConnectionLimiter::change(ConnectionSlot& slot, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > slot.held_ && !has_room(slot, bytes - slot.held_)) return false;
    for_each_count(slot, slot.standing_, [&](Count& count) { count.bytes += bytes - slot.held_; });
    slot.held_ = bytes;
    return true;
}

void ConnectionLimiter::raise(ConnectionSlot& slot, Standing standing) {
    const std::lock_guard lock(mutex_);
    move(slot, standing);
}

void ConnectionLimiter::move(ConnectionSlot& slot, Standing standing) {
    forget_evictable(slot);
    for_each_count(slot, slot.standing_, [&](Count& count) {
        --count.connections;
        count.bytes -= slot.held_;
    });
    slot.standing_ = standing;
    enter(slot);
}

std::size_t ConnectionLimiter::taken() const {
    const std::lock_guard lock(mutex_);
    return all_.connections;
}

bool ConnectionLimiter::wait_until_none(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return none_left_.wait_for(lock, limit, [this] { return all_.connections == 0; });
}

}  // namespace svc::net

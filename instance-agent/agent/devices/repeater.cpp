#include "instance-agent/agent/devices/repeater.h"

#include <algorithm>

namespace svc::agent {

Timer& Repeater::timer() {
    std::call_once(started_, [this] { timer_.emplace(clock_, name_); });
    return *timer_;
}

void Repeater::once(Call call) {
    timer().after(Duration::zero(), std::move(call));
}

void Repeater::arm(Key key, Entry& entry) {
    const std::uint64_t turn = ++entry.turn;
    entry.ticket = timer().after(entry.due - clock_.steady_now(), [this, key, turn] { fire(key, turn); });
}

void Repeater::start(Key key, Duration interval, Call call) {
    Timer& timer = this->timer();
    entries_.with([&](auto& entries) {
        Entry& entry = entries[key];
        timer.cancel(entry.ticket);
        entry.interval = interval;
        entry.call = std::move(call);
        entry.due = clock_.steady_now();
        arm(key, entry);
    });
}

void Repeater::hasten(Key key) {
    entries_.with([&](auto& entries) {
        const auto found = entries.find(key);
        if (found == entries.end()) return;
        timer().cancel(found->second.ticket);
        found->second.due = clock_.steady_now();
        arm(key, found->second);
    });
}

void Repeater::stop(Key key) {
    entries_.with([&](auto& entries) {
        const auto found = entries.find(key);
        if (found == entries.end()) return;
        timer().cancel(found->second.ticket);
        entries.erase(found);
    });
}

bool Repeater::has(Key key) const {
    return entries_.with([&](const auto& entries) { return entries.count(key) != 0; });
}

void Repeater::fire(Key key, std::uint64_t turn) {
    const Call call = entries_.with([&](auto& entries) -> Call {
        const auto found = entries.find(key);
        if (found == entries.end() || found->second.turn != turn) return nullptr;
        Entry& entry = found->second;
        entry.due = std::max(entry.due + entry.interval, clock_.steady_now());
        arm(key, entry);
        return entry.call;
    });
    if (call) call();
}

}  // namespace svc::agent

#include "instance-agent/streamer/media/meters/even_times.h"

namespace svc::streamer {
namespace {

constexpr std::size_t most_inside = 64;  // frames that an encoder may hold

}  // namespace

std::uint64_t EvenTimes::enter(std::uint64_t time) {
    std::lock_guard lock(mutex_);
    if (!begun_) last_ = {time, time};
    begun_ = true;
    const std::uint64_t since = time > last_.time ? time - last_.time : 0;
    const std::uint64_t step = since > interval_ + interval_ / 2 ? interval_ : since;
    last_ = {time, last_.told + step};
    inside_.push_back(last_);
    if (inside_.size() > most_inside) inside_.pop_front();
    return last_.told;
}

std::uint64_t EvenTimes::leave(std::uint64_t told) {
    std::lock_guard lock(mutex_);
    while (!inside_.empty() && inside_.front().told < told) inside_.pop_front();
    return inside_.empty() ? last_.time : inside_.front().time;
}

}  // namespace svc::streamer

#include "server/http/pacer.h"

#include <algorithm>

namespace svc::server {

namespace {

constexpr Duration burst = std::chrono::seconds(1);

}  // namespace

Pacer::Pacer(const Clock& clock, std::size_t per_second, bool counts)
    : clock_(clock),
      interval_(per_second == 0 ? Duration::zero() : burst / static_cast<Duration::rep>(per_second)),
      few_(per_second / 100),
      counting_(counts && per_second != 0) {}

Duration Pacer::delay(const std::string& source) {
    if (interval_ == Duration::zero()) return Duration::zero();
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady_now();
    if (counting_ && (counts_.size() < most_sources || counts_.contains(source))) ++counts_[source];
    return std::max(charge(source, now, interval_) - now - burst, Duration::zero());
}

void Pacer::add(const std::string& source, std::size_t requests) {
    if (interval_ == Duration::zero()) return;
    const auto enough = static_cast<std::size_t>((burst + longest_delay) / interval_);
    const std::lock_guard lock(mutex_);
    charge(source, clock_.steady_now(),
           interval_ * static_cast<Duration::rep>(std::min(requests, enough + 1)));
}

Pacer::Counts Pacer::take_counts() {
    Counts taken;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(counts_);
    }
    std::erase_if(taken, [this](const auto& each) { return each.second < few_; });
    return taken;
}

// Returns when the account is free again.
SteadyTime Pacer::charge(const std::string& source, SteadyTime now, Duration cost) {
    SteadyTime& free_at = account(source, now).free_at;
    free_at = std::min(std::max(free_at, now) + cost, now + burst + longest_delay);
    return free_at;
}

std::size_t Pacer::sources() const {
    const std::lock_guard lock(mutex_);
    return accounts_.size();
}

// Forgets sources that need not wait. When there are too many others, forgets the one whose last request is
// the oldest: the table stays bounded, and no source waits for another one.
Pacer::Account& Pacer::account(const std::string& source, SteadyTime now) {
    while (!accounts_.empty() && accounts_.back().free_at <= now) forget_last();
    const auto known = by_source_.find(source);
    if (known != by_source_.end()) {
        accounts_.splice(accounts_.begin(), accounts_, known->second);
        return accounts_.front();
    }
    if (accounts_.size() == most_sources) forget_last();
    accounts_.push_front({source, {}});
    by_source_.emplace(accounts_.front().source, accounts_.begin());
    return accounts_.front();
}

void Pacer::forget_last() {
    by_source_.erase(accounts_.back().source);
    accounts_.pop_back();
}

}  // namespace svc::server

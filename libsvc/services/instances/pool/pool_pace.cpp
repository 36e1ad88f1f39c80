#include "libsvc/services/instances/pool/pool_pace.h"

#include <algorithm>

namespace svc {

namespace {

constexpr Duration remembered = std::chrono::minutes(10);
constexpr Duration first_wait = std::chrono::seconds(10);
constexpr Duration longest_wait = std::chrono::minutes(10);
constexpr Duration yield_wait = std::chrono::minutes(1);
constexpr int most_doublings = 6;  // 640 s

}  // namespace

// More than a pool can hold need not be remembered.
void PoolPace::note_launch(const std::string& application, bool claimed) {
    const std::lock_guard lock(mutex_);
    Pace& pace = paces_[application];
    pace.launches.push_back(clock_.steady_now());
    if (pace.launches.size() > PoolSettings::most) pace.launches.pop_front();
    if (claimed) pace.failures = 0;
    ++(claimed ? pace.counts.claims : pace.counts.misses);
}

int PoolPace::size_now(const std::string& application, const PoolSettings& settings, int most) {
    const std::lock_guard lock(mutex_);
    std::deque<SteadyTime>& launches = paces_[application].launches;
    const SteadyTime now = clock_.steady_now();
    while (!launches.empty() && now - launches.front() > remembered) launches.pop_front();
    const int wanted = std::clamp(static_cast<int>(launches.size()), settings.min, settings.max);
    return std::min(wanted, most);
}

Duration PoolPace::wait(Pace& pace, Duration time) {
    pace.wait_until = std::max(pace.wait_until, clock_.steady_now() + time);
    return time;
}

Duration PoolPace::note_failure(const std::string& application) {
    const std::lock_guard lock(mutex_);
    Pace& pace = paces_[application];
    const SteadyTime now = clock_.steady_now();
    if (pace.failures > 0 && now < pace.wait_until) return pace.wait_until - now;
    const Duration time = first_wait * (1 << std::min(pace.failures, most_doublings));
    ++pace.failures;
    return wait(pace, std::min(time, longest_wait));
}

void PoolPace::note_yield(const std::string& application) {
    const std::lock_guard lock(mutex_);
    wait(paces_[application], yield_wait);
}

bool PoolPace::may_launch(const std::string& application) {
    const std::lock_guard lock(mutex_);
    return clock_.steady_now() >= paces_[application].wait_until;
}

std::map<std::string, PoolCounts> PoolPace::counts() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, PoolCounts> all;
    for (const auto& [application, pace] : paces_) all.emplace(application, pace.counts);
    return all;
}

void PoolPace::forget_all_but(const std::function<bool(const std::string& application)>& is_there) {
    const std::lock_guard lock(mutex_);
    std::erase_if(paces_, [&](const auto& each) { return !is_there(each.first); });
}

}  // namespace svc

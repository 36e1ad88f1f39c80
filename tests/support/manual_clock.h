#pragma once
// A clock that tests turn by hand, so that nothing ever sleeps.
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "libsvc/base/clock.h"

namespace svc::test {

// Thread-safe. Both times start at a fixed moment and move together, but for steps of the date.
class ManualClock final : public Clock {
  public:
    explicit ManualClock(std::string_view start = "2024-01-02T03:04:05.678901234Z")
        : start_(from_rfc3339(start)) {}

    Time now() const override {
        std::lock_guard lock(mutex_);
        return start_ + stepped_ + passed_;
    }
    SteadyTime steady_now() const override {
        std::lock_guard lock(mutex_);
        return begin + passed_;
    }
    bool wait(std::stop_token stop, Duration duration) override {
        std::unique_lock lock(mutex_);
        const bool endless = passed_ > Duration::zero() && duration > Duration::max() - passed_;
        return wait_locked(std::move(lock), stop, endless ? Duration::max() : passed_ + duration);
    }
    bool wait_until(std::stop_token stop, SteadyTime end) override {
        return wait_locked(std::unique_lock(mutex_), stop, end - begin);
    }

    // Wakes the waits that are due.
    void advance(Duration duration) {
        {
            std::lock_guard lock(mutex_);
            passed_ += duration;
        }
        changed_.notify_all();
    }
    // Somebody sets the date: no time passes.
    void step(Duration by) {
        std::lock_guard lock(mutex_);
        stepped_ += by;
    }
    // Blocks until `threads` threads are inside wait() and not due: a test that advances before would be too
    // early. Throws if that takes longer than anything that works.
    void await_waiters(std::ptrdiff_t threads) {
        std::unique_lock lock(mutex_);
        const auto all_wait = [&] {
            return std::distance(ends_.upper_bound(passed_), ends_.end()) >= threads;
        };
        if (!changed_.wait_for(lock, std::chrono::minutes(1), all_wait))
            throw std::runtime_error("not within 60 s: " + std::to_string(threads) +
                                     " threads wait on the clock");
    }

    // Threads inside wait().
    std::size_t waiters() const {
        std::lock_guard lock(mutex_);
        return ends_.size();
    }

  private:
    static constexpr SteadyTime begin{std::chrono::hours(1)};

    bool wait_locked(std::unique_lock<std::mutex> lock, const std::stop_token& stop, Duration end) {
        const auto self = ends_.insert(end);
        changed_.notify_all();
        const bool reached = changed_.wait(lock, stop, [&] { return passed_ >= end; });
        ends_.erase(self);
        return reached;
    }

    const Time start_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    Duration passed_{0};
    Duration stepped_{0};
    std::multiset<Duration> ends_;  // of the waits
};

}  // namespace svc::test

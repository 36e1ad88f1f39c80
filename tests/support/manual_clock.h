#pragma once
// A clock that tests turn by hand, so that nothing ever sleeps.
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "libsvc/base/clock.h"

namespace svc::test {

// Thread-safe. Both times start at a fixed moment and move together.
class ManualClock final : public Clock {
  public:
    explicit ManualClock(std::string_view start = "2024-01-02T03:04:05.678901234Z")
        : start_(from_rfc3339(start)) {}

    Time now() const override {
        std::lock_guard lock(mutex_);
        return start_ + passed_;
    }
    SteadyTime steady_now() const override {
        std::lock_guard lock(mutex_);
        return SteadyTime(std::chrono::hours(1)) + passed_;
    }
    bool wait(std::stop_token stop, Duration duration) override {
        std::unique_lock lock(mutex_);
        const bool endless = passed_ > Duration::zero() && duration > Duration::max() - passed_;
        const Duration end = endless ? Duration::max() : passed_ + duration;
        ++waiting_;
        changed_.notify_all();
        const bool reached = changed_.wait(lock, stop, [&] { return passed_ >= end; });
        --waiting_;
        return reached;
    }

    // Wakes the waits that are due.
    void advance(Duration duration) {
        {
            std::lock_guard lock(mutex_);
            passed_ += duration;
        }
        changed_.notify_all();
    }
    // Blocks until `threads` threads are inside wait(): a test that advances before would be too early.
    void await_waiters(int threads) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_ >= threads; });
    }

  private:
    const Time start_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    Duration passed_{0};
    int waiting_ = 0;
};

}  // namespace svc::test

#pragma once
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "libsvc/base/clock.h"

namespace svc::test {

// The engine's clock. Asking it is what the engine does first when it stops: so a test knows that it does.
class TellingClock final : public Clock {
  public:
    explicit TellingClock(Clock& inner) : inner_(inner) {}
    // Called when this thread asks next.
    void on_next(std::function<void()> tell) {
        std::lock_guard lock(mutex_);
        tell_ = std::move(tell);
        thread_ = std::this_thread::get_id();
    }
    Time now() const override { return inner_.now(); }
    SteadyTime steady_now() const override {
        std::function<void()> tell;
        {
            std::lock_guard lock(mutex_);
            if (thread_ == std::this_thread::get_id()) tell = std::exchange(tell_, nullptr);
        }
        if (tell) tell();
        return inner_.steady_now();
    }
    bool wait(std::stop_token stop, Duration duration) override { return inner_.wait(stop, duration); }
    bool wait_until(std::stop_token stop, SteadyTime end) override { return inner_.wait_until(stop, end); }

  private:
    Clock& inner_;
    mutable std::mutex mutex_;
    mutable std::function<void()> tell_;
    std::thread::id thread_;
};

}  // namespace svc::test

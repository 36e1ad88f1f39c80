#include "libsvc/base/periodic.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include "tests/support/manual_clock.h"

namespace {

// Time passes only while somebody waits, and then at once; each wait needs a permit of the test.
class SteppingClock final : public svc::Clock {
  public:
    svc::Time now() const override { return {}; }
    svc::SteadyTime steady_now() const override { return svc::SteadyTime(svc::Duration(now_.load())); }
    bool wait(std::stop_token stop, svc::Duration duration) override {
        const std::stop_callback wake(stop, [this] { permits.release(); });
        permits.acquire();
        if (stop.stop_requested()) return false;
        now_ += duration.count();
        waited.release();
        return true;
    }
    void step() {
        permits.release();
        waited.acquire();
    }

    std::counting_semaphore<> permits{0};
    std::counting_semaphore<> waited{0};

  private:
    std::atomic<std::int64_t> now_ = 0;
};

// Threads other than the one that made it see no time before they may.
class LateClock final : public svc::Clock {
  public:
    svc::Time now() const override { return inner.now(); }
    svc::SteadyTime steady_now() const override {
        if (std::this_thread::get_id() != maker_) begun_.wait();
        return inner.steady_now();
    }
    bool wait(std::stop_token stop, svc::Duration duration) override { return inner.wait(stop, duration); }
    bool wait_until(std::stop_token stop, svc::SteadyTime end) override {
        return inner.wait_until(stop, end);
    }
    void let_begin() { begin_.set_value(); }

    svc::test::ManualClock inner;

  private:
    const std::thread::id maker_ = std::this_thread::get_id();
    std::promise<void> begin_;
    std::shared_future<void> begun_ = begin_.get_future().share();
};

}  // namespace

TEST_CASE("a job is due from when it was set up, however late its thread begins") {
    using namespace std::chrono_literals;
    LateClock clock;
    std::promise<void> ran;
    const svc::Periodic periodic(clock,
                                 {{"job", [] { return 10s; }, [&](std::stop_token) { ran.set_value(); }}});
    clock.inner.advance(10s);
    clock.let_begin();
    CHECK(ran.get_future().wait_for(60s) == std::future_status::ready);
}

TEST_CASE("jobs run at their own intervals and survive their exceptions") {
    using namespace std::chrono_literals;
    SteppingClock clock;
    std::atomic<int> fast = 0;
    std::atomic<int> slow = 0;
    std::atomic<int> off = 0;
    {
        svc::Periodic periodic(clock, {{"fast", [] { return 10s; },
                                        [&](std::stop_token) {
                                            ++fast;
                                            throw std::runtime_error("expected by the test");
                                        }},
                                       {"slow", [] { return 30s; }, [&](std::stop_token) { ++slow; }},
                                       {"off", [] { return 0s; }, [&](std::stop_token) { ++off; }}});
        for (int i = 0; i < 6; ++i) clock.step();
        // The sixth wait has ended; a seventh begins only when the jobs of that moment are done.
        clock.step();
    }
    CHECK(fast >= 6);
    CHECK(slow == 2);
    CHECK(off == 0);
}

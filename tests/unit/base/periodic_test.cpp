#include "libsvc/base/periodic.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <semaphore>
#include <stdexcept>

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

}  // namespace

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

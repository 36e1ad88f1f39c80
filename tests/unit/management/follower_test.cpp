#include <catch2/catch.hpp>

#include <atomic>
#include <latch>

#include "libsvc/base/error.h"
#include "libsvc/management/follower.h"

namespace svc {

TEST_CASE("a follower runs at once and whenever it is asked to") {
    std::atomic<int> runs{0};
    std::latch first(1);
    std::latch second(1);
    Follower follower(
        "test", [] { return Duration(std::chrono::hours(1)); },
        [&] {
            if (++runs == 1)
                first.count_down();
            else
                second.count_down();
        });
    follower.start();
    first.wait();
    follower.interval_changed();
    follower.run_now();
    second.wait();
    CHECK(runs == 2);
}

TEST_CASE("a follower outlives what its job throws and takes a new interval") {
    std::atomic<int> runs{0};
    std::atomic<bool> quick{false};
    std::latch first(1);
    std::latch later(1);
    Follower follower(
        "test",
        [&] { return quick ? Duration(std::chrono::milliseconds(1)) : Duration(std::chrono::hours(1)); },
        [&] {
            const int run = ++runs;
            if (run == 1) first.count_down();
            if (run == 3) later.count_down();
            throw Error(ErrorCode::unavailable, "nobody is there");
        });
    follower.start();
    first.wait();
    quick = true;
    follower.interval_changed();
    later.wait();
    CHECK(runs >= 3);
}

}  // namespace svc

#include "libsvc/base/ages.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

namespace svc::test {

using namespace std::chrono_literals;

TEST_CASE("an age grows with the steady clock once it is known") {
    ManualClock clock;
    Ages ages(clock);
    const Time when = clock.now();
    clock.advance(3s);
    CHECK(ages.since("x", when) == 3s);
    clock.step(1h);
    CHECK(ages.since("x", when) == 3s);
    clock.step(-2h);
    clock.advance(1s);
    CHECK(ages.since("x", when) == 4s);
}

TEST_CASE("a date to come has no age, and another date is another moment") {
    ManualClock clock;
    Ages ages(clock);
    CHECK(ages.since("x", clock.now() + 1h) == 0s);
    clock.advance(1s);
    CHECK(ages.since("x", clock.now() + 1h - 1s) == 1s);
    CHECK(ages.since("x", clock.now() - 5s) == 5s);
}

TEST_CASE("an age that nobody asks for is forgotten") {
    ManualClock clock;
    Ages ages(clock);
    const Time when = clock.now();
    ages.since("x", when);
    ages.forget_unasked();
    clock.advance(1s);
    clock.step(1h);
    CHECK(ages.since("x", when) == 1s);
    ages.forget_unasked();
    ages.forget_unasked();
    CHECK(ages.since("x", when) == 1h + 1s);
}

}  // namespace svc::test

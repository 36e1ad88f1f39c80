#include "libsvc/base/timer.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "libsvc/base/guarded.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::test;

namespace {

struct Fixture {
    ManualClock clock;
    Guarded<std::vector<int>> called;
    Timer timer{clock, "test"};

    std::function<void()> note(int number) {
        return [this, number] { called.with([&](auto& all) { all.push_back(number); }); };
    }
    std::vector<int> advance_until(std::size_t count) {
        while (called.with([](auto& all) { return all.size(); }) < count)
            clock.advance(std::chrono::seconds(1));
        return called.with([](auto& all) { return all; });
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "timed calls come in the order of their time") {
    timer.after(std::chrono::seconds(20), note(20));
    timer.after(std::chrono::seconds(10), note(10));
    timer.after(std::chrono::seconds(30), note(30));
    CHECK(advance_until(3) == std::vector<int>{10, 20, 30});
    CHECK(timer.pending() == 0);
}

TEST_CASE_METHOD(Fixture, "a cancelled call does not come") {
    const auto ticket = timer.after(std::chrono::seconds(10), note(1));
    timer.after(std::chrono::seconds(20), note(2));
    timer.cancel(ticket);
    timer.cancel(ticket);
    CHECK(advance_until(1) == std::vector<int>{2});
}

TEST_CASE_METHOD(Fixture, "a call that throws does not keep the next one from coming") {
    timer.after(Duration::zero(), [] { throw std::runtime_error("on purpose"); });
    timer.after(Duration::zero(), note(1));
    CHECK(advance_until(1) == std::vector<int>{1});
}

TEST_CASE("what is pending is dropped with the timer") {
    ManualClock clock;
    bool called = false;
    {
        Timer timer(clock, "test");
        timer.after(std::chrono::hours(1), [&] { called = true; });
        CHECK(timer.pending() == 1);
    }
    CHECK_FALSE(called);
}

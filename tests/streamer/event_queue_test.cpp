#include "instance-agent/streamer/event_queue.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/agent/guest_client.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

TEST_CASE("who_fills_the_queue_is_held_up_until_there_is_room_or_it_stops") {
    SystemClock clock;
    EventQueue queue(clock);
    std::atomic<int> posted = 0, done = 0, most = 0;
    const auto fill = [&] {
        queue.post_when_room(EventQueue::most_weight, [&] {
            most = std::max<int>(most, posted - done);
            ++done;
        });
        ++posted;
    };
    std::jthread filler([&] {
        for (int i = 0; i < 100; ++i) fill();
    });
    REQUIRE(eventually([&] {
        queue.run_due();
        return done == 100;
    }));
    CHECK(most <= 2);  // one runs, one waits
    filler.join();
    fill();
    std::jthread last(fill);
    queue.stop();
    last.join();
    CHECK(posted == 102);
}

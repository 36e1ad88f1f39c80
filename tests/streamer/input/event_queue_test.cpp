#include "instance-agent/streamer/threads/event_queue.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace svc;
using namespace svc::streamer;

TEST_CASE("who fills the queue is held up until there is room") {
    SystemClock clock;
    EventQueue queue(clock);
    std::atomic<int> posted = 0, done = 0, most = 0;
    const std::jthread filler([&] {
        for (int i = 0; i < 100; ++i) {
            queue.post_when_room(EventQueue::most_weight, [&] {
                most = std::max<int>(most, posted - done);
                ++done;
            });
            ++posted;
        }
        queue.post([&] { queue.stop(); });
    });
    queue.run();
    CHECK(done == 100);
    CHECK(most <= 2);  // one runs, one waits
}

TEST_CASE("who waits for room waits no more when the queue stops") {
    SystemClock clock;
    EventQueue queue(clock);
    const auto fill = [&] { queue.post_when_room(EventQueue::most_weight, [] {}); };
    fill();
    std::jthread waiting(fill);
    queue.stop();
    waiting.join();
    CHECK(queue.run_due() == 2);
}

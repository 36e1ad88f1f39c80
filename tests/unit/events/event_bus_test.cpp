#include "libsvc/events/event_bus.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "libsvc/base/error.h"
#include "tests/support/eventually.h"

namespace svc {
namespace {

class FixedClock final : public Clock {
  public:
    Time now() const override { return from_rfc3339("2024-01-02T03:04:05.000000006Z"); }
    SteadyTime steady_now() const override { return {}; }
    bool wait(std::stop_token, Duration) override { return true; }
};

const std::set<EventType> all{EventType::operation, EventType::logging, EventType::lifecycle};

struct Fixture {
    FixedClock clock;
    EventBus bus{clock};
    Json number(int n) { return Json::object({{"n", n}}); }
};

TEST_CASE("every event type has a text and comes back from it") {
    for (EventType type : all) CHECK(parse_event_type(to_text(type)) == type);
    CHECK_THROWS_WITH(parse_event_type("all"), "event type 'all' is not known");
}

TEST_CASE_METHOD(Fixture, "an event is rendered once, with its type, time, metadata and number") {
    std::vector<Event> seen;
    const auto queue = [&](const Event& event) {
        seen.push_back(event);
        return true;
    };
    const auto first = bus.subscribe(all, queue);
    const auto second = bus.subscribe(all, queue);
    bus.publish(EventType::lifecycle, Json::object({{"action", "x"}}));
    REQUIRE(seen.size() == 2);
    CHECK(*seen[0].text == R"({"type":"lifecycle","timestamp":"2024-01-02T03:04:05.000000006Z",)"
                           R"("metadata":{"action":"x"},"sequence":1})");
    CHECK(seen[0].text == seen[1].text);
}

TEST_CASE_METHOD(Fixture, "a subscriber gets the types it asked for, and nothing from before") {
    std::vector<std::uint64_t> seen;
    bus.publish(EventType::logging, number(0));
    const auto handle = bus.subscribe({EventType::logging}, [&](const Event& event) {
        seen.push_back(event.sequence);
        return true;
    });
    bus.publish(EventType::operation, number(0));
    bus.publish(EventType::logging, number(0));
    CHECK(seen == std::vector<std::uint64_t>{3});
}

TEST_CASE_METHOD(Fixture, "a receiver that returns false or throws is not called again") {
    int refusals = 0;
    int throws = 0;
    int kept = 0;
    const auto refusing = bus.subscribe(all, [&](const Event&) { return ++refusals > 1; });
    const auto throwing = bus.subscribe(all, [&](const Event&) -> bool {
        ++throws;
        throw Error(ErrorCode::internal, "for a test");
    });
    const auto keeping = bus.subscribe(all, [&](const Event&) { return ++kept > 0; });
    bus.publish(EventType::operation, number(1));
    bus.publish(EventType::operation, number(2));
    CHECK(refusals == 1);
    CHECK(throws == 1);
    CHECK(kept == 2);
    CHECK(bus.subscribers() == 1);
}

TEST_CASE_METHOD(Fixture, "the end of a handle ends the calls and frees the receiver") {
    const auto token = std::make_shared<int>(0);
    auto handle = bus.subscribe(all, [token](const Event&) { return ++*token > 0; });
    bus.publish(EventType::operation, number(1));
    handle.reset();
    bus.publish(EventType::operation, number(2));
    CHECK(*token == 1);
    CHECK(token.use_count() == 1);
    CHECK(bus.subscribers() == 0);
}

TEST_CASE_METHOD(Fixture, "a receiver may end its own and another's subscription") {
    int first_calls = 0;
    int second_calls = 0;
    std::unique_ptr<EventBus::Handle> first;
    std::unique_ptr<EventBus::Handle> second;
    first = bus.subscribe(all, [&](const Event&) {
        second.reset();
        first.reset();
        return ++first_calls > 0;
    });
    second = bus.subscribe(all, [&](const Event&) { return ++second_calls > 0; });
    bus.publish(EventType::operation, number(1));
    bus.publish(EventType::operation, number(2));
    CHECK(first_calls == 1);
    CHECK(second_calls == 0);
    CHECK(bus.subscribers() == 0);
}

TEST_CASE_METHOD(Fixture, "what a receiver publishes comes after the event it was called with, for all") {
    std::vector<std::uint64_t> first_seen;
    std::vector<std::uint64_t> second_seen;
    const auto first = bus.subscribe(all, [&](const Event& event) {
        if (event.sequence == 1) bus.publish(EventType::lifecycle, number(2));
        first_seen.push_back(event.sequence);
        return true;
    });
    const auto second = bus.subscribe(all, [&](const Event& event) {
        second_seen.push_back(event.sequence);
        return true;
    });
    bus.publish(EventType::operation, number(1));
    CHECK(first_seen == std::vector<std::uint64_t>{1, 2});
    CHECK(second_seen == first_seen);
}

TEST_CASE_METHOD(Fixture, "who subscribes from within a receiver gets the next event") {
    std::vector<std::uint64_t> seen;
    std::unique_ptr<EventBus::Handle> inner;
    const auto outer = bus.subscribe(all, [&](const Event&) {
        if (!inner)
            inner = bus.subscribe(all, [&](const Event& event) {
                seen.push_back(event.sequence);
                return true;
            });
        return true;
    });
    bus.publish(EventType::operation, number(1));
    bus.publish(EventType::operation, number(2));
    CHECK(seen == std::vector<std::uint64_t>{2});
}

TEST_CASE_METHOD(Fixture, "metadata that is no JSON is dropped without a throw") {
    int calls = 0;
    const auto handle = bus.subscribe(all, [&](const Event&) { return ++calls > 0; });
    bus.publish(EventType::operation, Json(std::string("\xff")));
    bus.publish(EventType::operation, number(1));
    CHECK(calls >= 1);
}

TEST_CASE_METHOD(Fixture, "all subscribers see concurrent events in one order without gaps") {
    constexpr int publishers = 4;
    constexpr int events = 500;
    std::vector<std::vector<std::uint64_t>> seen(3);
    std::vector<std::unique_ptr<EventBus::Handle>> handles;
    for (auto& mine : seen)
        handles.push_back(bus.subscribe(all, [&mine](const Event& event) {
            mine.push_back(event.sequence);
            return true;
        }));
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < publishers; ++i)
            threads.emplace_back([this] {
                for (int n = 0; n < events; ++n) bus.publish(EventType::operation, number(n));
            });
    }
    for (const auto& mine : seen) {
        REQUIRE(mine.size() == publishers * events);
        for (std::size_t i = 0; i < mine.size(); ++i) REQUIRE(mine[i] == i + 1);
    }
}

// Reads pages until live, then goes on with what the receiver got.
struct Follower {
    std::vector<std::string> texts;
    std::unique_ptr<EventBus::Replay> replay;

    Follower(EventBus& bus, std::set<EventType> types, std::uint64_t since)
        : replay(bus.replay(
              std::move(types),
              [this](const Event& event) {
                  texts.push_back(*event.text);
                  return true;
              },
              since)) {}
    bool read(std::size_t bytes = 1U << 20) {
        const EventPage page = replay->next(bytes);
        for (const auto& text : page.texts) texts.push_back(*text);
        return page.live;
    }
    std::vector<std::string> summary() const {  // "3", or "gap 1 3 5": since, first, last
        std::vector<std::string> all;
        for (const auto& text : texts) {
            const Json json = Json::parse(text);
            if (json.at("type") != Json("gap")) {
                all.push_back(std::to_string(json.at("sequence").as_int()));
                continue;
            }
            std::string gap = "gap";
            for (const char* key : {"since", "first", "last"})
                gap += " " + std::to_string(json.at("metadata").at(key).as_int());
            all.push_back(gap);
        }
        return all;
    }
};
using Summary = std::vector<std::string>;

TEST_CASE_METHOD(Fixture, "a replay gives what came after a number, then goes on live") {
    for (int i = 1; i <= 4; ++i) bus.publish(EventType::operation, number(i));
    Follower follower(bus, all, 2);
    CHECK_FALSE(follower.read());
    bus.publish(EventType::operation, number(5));  // after the page, before live
    CHECK(bus.subscribers() == 0);
    CHECK_FALSE(follower.read());
    CHECK(follower.read());
    bus.publish(EventType::operation, number(6));
    CHECK(follower.summary() == Summary{"3", "4", "5", "6"});
    follower.replay.reset();
    CHECK(bus.subscribers() == 0);
}

TEST_CASE_METHOD(Fixture, "a replay gives only the types it was asked for") {
    for (EventType type :
         {EventType::operation, EventType::logging, EventType::lifecycle, EventType::logging})
        bus.publish(type, number(1));
    Follower follower(bus, {EventType::logging}, 0);
    test::eventually("the replay has caught up", [&] { return follower.read(); });
    bus.publish(EventType::operation, number(1));
    bus.publish(EventType::logging, number(1));
    CHECK(follower.summary() == Summary{"2", "4", "6"});
}

TEST_CASE_METHOD(Fixture, "a page holds no more bytes than asked for, but at least one event") {
    for (int i = 1; i <= 4; ++i) bus.publish(EventType::operation, number(i));
    Follower follower(bus, all, 0);
    follower.read(1);
    CHECK(follower.texts.size() == 1);
    follower.read(2 * follower.texts.front().size());
    CHECK(follower.texts.size() == 3);
}

TEST_CASE_METHOD(Fixture, "what the window has lost, also while it is read, is told as a gap") {
    EventBus small(clock, {{}, 3});
    for (int i = 1; i <= 5; ++i) small.publish(EventType::operation, number(i));
    Follower follower(small, all, 1);
    follower.read(1);  // the gap
    follower.read(1);
    for (int i = 6; i <= 9; ++i) small.publish(EventType::operation, number(i));
    test::eventually("the replay has caught up", [&] { return follower.read(); });
    CHECK(follower.summary() == Summary{"gap 1 3 5", "3", "gap 3 7 9", "7", "8", "9"});
}

TEST_CASE_METHOD(Fixture, "a number that was never given is answered by a gap and all there is") {
    bus.publish(EventType::operation, number(1));
    Follower follower(bus, all, std::numeric_limits<std::uint64_t>::max() / 2);
    test::eventually("the replay has caught up", [&] { return follower.read(); });
    CHECK(follower.texts.size() == 2);
    CHECK(follower.summary().back() == "1");
    Follower current(bus, all, 1);
    CHECK(current.read());
    CHECK(current.texts.empty());
}

TEST_CASE_METHOD(Fixture, "a replay that races with publishers has neither hole nor double") {
    constexpr int events = 4000;
    EventBus wide(clock, {{}, 100'000});
    std::mutex mutex;
    std::vector<std::uint64_t> seen;
    const auto note = [&](std::uint64_t number) {
        const std::lock_guard lock(mutex);
        seen.push_back(number);
        return true;
    };
    std::jthread publisher([&] {
        for (int n = 0; n < events; ++n) wide.publish(EventType::operation, number(n));
    });
    const auto replay = wide.replay(
        all, [&](const Event& event) { return note(event.sequence); }, 0);
    for (bool live = false; !live;) {
        const EventPage page = replay->next(500);
        live = page.live;
        for (const auto& text : page.texts)
            note(static_cast<std::uint64_t>(Json::parse(*text).at("sequence").as_int()));
    }
    publisher.join();
    REQUIRE(seen.size() == events);
    for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen[i] == i + 1);
}

TEST_CASE_METHOD(Fixture, "no call comes after the end of a handle on another thread") {
    std::atomic<bool> stop = false;
    std::jthread publisher([&] {
        while (!stop) {
            bus.publish(EventType::operation, number(1));
            std::this_thread::yield();  // else others seldom get the bus where there is one processor
        }
    });
    for (int i = 0; i < 200; ++i) {
        auto calls = std::make_unique<std::atomic<int>>(0);
        auto handle = bus.subscribe(all, [&calls](const Event&) { return ++*calls > 0; });
        test::eventually("the subscriber is called", [&] { return *calls > 0; });
        handle.reset();
        calls.reset();  // a late call would touch freed memory
    }
    stop = true;
    publisher.join();
    CHECK(bus.subscribers() == 0);
}

}  // namespace
}  // namespace svc

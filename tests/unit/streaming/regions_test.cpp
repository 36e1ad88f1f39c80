#include "libsvc/streaming/regions/regions.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_management.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using svc::test::code_of;
using svc::test::FakeManagement;
using Names = std::vector<std::string>;

namespace {

constexpr std::chrono::seconds enough{60};

// Keeps what regions tell; what waits gives up in the end.
class Listener final : public RegionEvents {
  public:
    void region_answers(const std::string& region) override { note(region + " answers"); }
    void instance_changed(const std::string& region, const std::string& id) override {
        note(region + " " + id);
    }

    bool await(const std::string& text, std::size_t times = 1) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, enough, [&] { return told_.count(text) >= times; });
    }
    // True: whoever tells something waits, until false.
    void hold(bool held) {
        std::lock_guard lock(mutex_);
        held_ = held;
        changed_.notify_all();
    }
    std::size_t count(const std::string& text) {
        std::lock_guard lock(mutex_);
        return told_.count(text);
    }

  private:
    void note(const std::string& text) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, enough, [this] { return !held_; });
        told_.insert(text);
        changed_.notify_all();
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::multiset<std::string> told_;
    bool held_ = false;
};

struct RegionsWorld {
    test::ManualClock clock;
    FakeManagement north, south;
    Listener listener;
    Regions regions{members(), clock};

    // The askers have their first answers and wait, the followers follow.
    void start() {
        regions.start(listener);
        clock.await_waiters(2);
        north.await_followers(1);
        south.await_followers(1);
    }
    std::vector<Regions::Member> members() {
        std::vector<Regions::Member> members;
        members.push_back({"south", south.connect()});
        members.push_back({"north", north.connect()});
        return members;
    }
    std::string choose(std::string_view app, std::string_view wanted = "", std::size_t in_north = 0,
                       std::size_t in_south = 0) {
        return regions.choose({app, {}, wanted}, [&](const std::string& region) {
            return region == "north" ? in_north : in_south;
        });
    }
};

// "candy" streams, "(candy)" does not.
Names offered(const std::vector<Regions::Offer>& offers) {
    Names names;
    for (const auto& [name, streams] : offers) names.push_back(streams ? name : "(" + name + ")");
    return names;
}

}  // namespace

TEST_CASE("regions that answer are named with what they have") {
    RegionsWorld world;
    world.north.set_applications({"candy", "app"});
    world.start();
    CHECK(world.regions.names() == Names{"north", "south"});
    CHECK(offered(world.regions.applications()) == Names{"app", "candy"});
    CHECK(world.regions.counts().active == 2);
    CHECK(world.regions.answers("north"));
    CHECK_FALSE(world.regions.answers("west"));
}

TEST_CASE("before anybody has answered no session can be placed") {
    RegionsWorld world;
    CHECK(world.regions.counts().unresponsive == 2);
    CHECK(world.regions.names().empty());
    CHECK_THROWS_WITH(world.choose("app"), "No agent available to host the session");
}

TEST_CASE("a region that is silent for more than 15 seconds is unresponsive until it answers again") {
    RegionsWorld world;
    world.start();
    REQUIRE(world.listener.await("north answers", 2));  // the first answer, the first following
    world.north.set_answers(false);
    world.clock.advance(std::chrono::seconds(15));
    CHECK(world.regions.answers("north"));
    world.clock.advance(std::chrono::seconds(1));
    CHECK_FALSE(world.regions.answers("north"));
    CHECK(test::eventually([&] { return world.regions.names() == Names{"south"}; }));
    CHECK(world.regions.counts().unresponsive == 1);
    world.north.set_answers(true);
    CHECK(test::eventually([&] {
        world.clock.advance(std::chrono::milliseconds(10));
        return world.regions.answers("north");
    }));
    CHECK(world.listener.await("north answers", 3));
}

TEST_CASE("a region that takes questions and never answers is unresponsive, and holds nobody up") {
    RegionsWorld world;
    world.start();
    world.north.set_hangs(true);
    world.clock.advance(std::chrono::seconds(16));
    CHECK(test::eventually([&] { return world.regions.names() == Names{"south"}; }));
    CHECK(world.choose("app") == "south");
    CHECK(code_of([&] { world.choose("app", "north"); }) == ErrorCode::not_found);
    world.north.set_hangs(false);
    CHECK(test::eventually([&] { return world.regions.answers("north"); }));
}

TEST_CASE("a region is asked in time, however long its last answer is being taken in") {
    RegionsWorld world;
    world.listener.hold(true);
    world.regions.start(world.listener);
    REQUIRE(test::eventually([&] { return world.regions.counts().active == 2; }));
    world.clock.advance(std::chrono::seconds(16));
    world.listener.hold(false);
    CHECK(test::eventually([&] { return world.regions.counts().active == 2; }));
}

TEST_CASE("a new answer brings new applications") {
    RegionsWorld world;
    world.start();
    world.south.set_applications({"later"});
    world.clock.advance(std::chrono::seconds(5));
    CHECK(test::eventually([&] { return offered(world.regions.applications()) == Names{"app", "later"}; }));
    CHECK(world.choose("later") == "south");
}

TEST_CASE("changes of instances are told as the service tells them") {
    RegionsWorld world;
    world.start();
    CHECK(world.listener.await("north answers"));
    world.north.add({"i1", "s1", "created", ""});
    CHECK(world.listener.await("north i1"));
    world.north.move("i1", "running");
    CHECK(world.listener.await("north i1", 2));
    CHECK(world.listener.count("south i1") == 0);
}

TEST_CASE("events are followed again after they broke, and all is looked at then") {
    RegionsWorld world;
    world.start();
    CHECK(world.listener.await("south answers", 2));  // the first answer, the first following
    world.south.set_answers(false);
    world.clock.await_waiters(3);  // the follower has seen the end
    world.south.set_answers(true);
    world.clock.advance(std::chrono::seconds(1));  // before it is asked again
    CHECK(world.listener.await("south answers", 3));
}

TEST_CASE("the region with fewest sessions per CPU is chosen") {
    RegionsWorld world;
    world.north.set_cpus(8);
    world.start();
    CHECK(world.choose("app", "", 3, 2) == "north");
    CHECK(world.choose("app", "", 5, 2) == "south");
    CHECK(world.choose("app", "north", 100, 0) == "north");
}

TEST_CASE("chance decides among equals") {
    RegionsWorld world;
    world.start();
    std::set<std::string> chosen;
    for (int i = 0; i < 200; ++i) chosen.insert(world.choose("app", "", 1, 1));
    CHECK(chosen.size() == 2);
}

TEST_CASE("a region that has just failed to answer is the second choice") {
    RegionsWorld world;
    world.start();
    world.north.set_answers(false);
    CHECK(world.choose("app", "", 0, 9) == "north");
    world.clock.advance(std::chrono::seconds(5));
    CHECK(test::eventually([&] { return world.choose("app", "", 0, 9) == "south"; }));
    CHECK(world.regions.answers("north"));
    CHECK(world.choose("app", "north") == "north");
}

TEST_CASE("a region that has just refused a launch is the second choice for five seconds") {
    RegionsWorld world;
    world.start();
    world.regions.note_refusal("north");
    CHECK(world.choose("app", "", 0, 9) == "south");
    CHECK(world.choose("app", "north") == "north");
    world.clock.advance(std::chrono::milliseconds(4999));
    CHECK(world.choose("app", "", 0, 9) == "south");
    world.clock.advance(std::chrono::milliseconds(1));
    CHECK(world.choose("app", "", 0, 9) == "north");
    world.regions.note_refusal("west");
    CHECK(world.choose("app", "", 0, 9) == "north");
}

TEST_CASE("of regions that all have just refused, the least loaded is chosen") {
    RegionsWorld world;
    world.start();
    world.regions.note_refusal("north");
    world.regions.note_refusal("south");
    CHECK(world.choose("app", "", 0, 9) == "north");
    CHECK(world.choose("app", "", 9, 0) == "south");
}

TEST_CASE("applications and regions that nobody has are told apart") {
    RegionsWorld world;
    world.north.set_applications({"candy"});
    world.start();
    CHECK(code_of([&] { world.choose("nothing"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { world.choose("candy", "south"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { world.choose("candy", "west"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { world.regions.management("west"); }) == ErrorCode::not_found);
    CHECK(world.regions.management("south").applications().at(0).name == "app");
}

TEST_CASE("what does not stream is told from what nobody has") {
    RegionsWorld world;
    world.north.add_application({"greeter", {{0, true}, {1, false}}});
    world.south.add_application({"silent", {{0, false}}});
    world.start();
    CHECK(offered(world.regions.applications()) == Names{"app", "(greeter)", "(silent)"});
    CHECK_THROWS_WITH(world.choose("silent"),
                      "application 'silent' does not stream: it has no addon with a streamer");
    CHECK(code_of([&] { world.choose("greeter"); }) == ErrorCode::invalid_argument);
    const auto none = [](const std::string&) { return std::size_t{0}; };
    CHECK(world.regions.choose({"greeter", 0}, none) == "north");
    CHECK_THROWS_WITH(world.regions.choose({"greeter", 1}, none),
                      "version 1 of application 'greeter' does not stream: it has no addon with a streamer");
    CHECK(world.regions.choose({"greeter", 7}, none) == "north");  // the launch says that it is not there
}

TEST_CASE("an application that streams in one region only is placed there") {
    RegionsWorld world;
    world.north.set_applications({});
    world.north.add_application({"candy", {{0, false}}});
    world.south.set_applications({"candy"});
    world.start();
    CHECK(offered(world.regions.applications()) == Names{"candy"});
    CHECK(world.choose("candy", "", 0, 9) == "south");
    CHECK(code_of([&] { world.choose("candy", "north"); }) == ErrorCode::not_found);
}

TEST_CASE("regions end at once, whatever they wait for") {
    RegionsWorld world;
    world.start();
    world.regions.stop();
    world.north.add({"i1", "s1", "created", ""});
    CHECK(world.listener.count("north i1") == 0);
}

// One region that does not answer is no reason for others to wait.
#include <atomic>

#include "tests/unit/streaming/session_fixture.h"

namespace svc::test {

namespace {

constexpr int threads_of_region = 8;
constexpr int more_than_threads = 40;

// Until its end: whoever waits for the service would never end otherwise.
class Hanging {
  public:
    explicit Hanging(FakeManagement& management) : management_(management) { management_.set_hangs(true); }
    ~Hanging() { management_.set_hangs(false); }
    Hanging(const Hanging&) = delete;
    Hanging& operator=(const Hanging&) = delete;

  private:
    FakeManagement& management_;
};

// Launches do not return before its end.
class HeldLaunches {
  public:
    explicit HeldLaunches(FakeManagement& management) {
        management.on_launch([state = state_](const auto&) {
            ++state->count;
            state->is_over.wait(false);
        });
    }
    ~HeldLaunches() {
        state_->is_over = true;
        state_->is_over.notify_all();
    }
    HeldLaunches(const HeldLaunches&) = delete;
    HeldLaunches& operator=(const HeldLaunches&) = delete;
    int count() const { return state_->count; }

  private:
    struct State {
        std::atomic<int> count{0};
        std::atomic<bool> is_over{false};
    };
    const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace

TEST_CASE("sessions of a region are launched and deleted while another region hangs") {
    SessionWorld world;
    Gateway gateway(world, true);
    std::vector<std::string> south;
    for (int i = 0; i < more_than_threads; ++i) south.push_back(gateway.create(R"(,"region":"south")"));
    for (const std::string& id : south) gateway.instance(id);
    const Hanging hanging(world.other);
    gateway.service.remove_all("", south, {});
    for (int i = 0; i < more_than_threads; ++i) gateway.create(R"(,"region":"south")");

    const std::string id = gateway.create(R"(,"region":"north")");
    const std::string instance = gateway.instance(id);
    const StreamPeer peer = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, SessionStatus::active));
    gateway.service.tick();
    gateway.service.remove("", id, {.force = false, .sync = true});
    CHECK(world.management.removals() == std::vector<std::string>{instance});
}

TEST_CASE("claims of sessions that wait for a region are renewed in one commit") {
    SessionWorld world;
    Gateway gateway(world, true);
    HeldLaunches held(world.other);
    std::vector<std::string> south;
    for (int i = 0; i < more_than_threads; ++i) south.push_back(gateway.create(R"(,"region":"south")"));
    REQUIRE(world.eventually([&] { return held.count() == threads_of_region; }));
    gateway.advance(std::chrono::seconds(8));
    std::atomic<int> commits{0};
    const auto watch = world.sqlite.watch("stream-sessions/", [&](const auto&) { ++commits; });
    gateway.service.tick();
    CHECK(commits == 1);
    for (const std::string& id : south)
        CHECK(world.stored(id)->worker_until > world.clock.now() + std::chrono::seconds(14));
}

TEST_CASE("a region that has answered late gets what waited for it") {
    SessionWorld world;
    Gateway gateway(world, true);
    std::vector<std::string> south;
    {
        const Hanging hanging(world.other);
        for (int i = 0; i < more_than_threads; ++i) south.push_back(gateway.create(R"(,"region":"south")"));
        CHECK(world.other.launches().empty());
    }
    for (const std::string& id : south) gateway.instance(id);
    CHECK(world.other.launches().size() == south.size());
}

}  // namespace svc::test

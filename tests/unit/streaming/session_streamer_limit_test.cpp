// The time limit of sessions whose instance runs without a streamer.
#include <atomic>
#include <memory>

#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

// Returns when the service knows. It looks at a session once at a time: the first look that is told may have
// begun before, the second one has the answer, and with the third one that is taken in.
void run_instance(SessionWorld& world, const std::string& id) {
    const auto looks = std::make_shared<std::atomic<int>>(0);
    world.management.on_look([looks](const std::string&) { ++*looks; });
    world.management.move(id, "running");
    const int before = *looks;
    for (int more = 1; more <= 3; ++more) {
        world.management.tell(id);
        REQUIRE(world.eventually([&] { return *looks >= before + more; }));
    }
    world.management.on_look(nullptr);
}

}  // namespace

TEST_CASE("an instance that runs without a streamer is an error after half a minute, and may still come") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"joinable":true)");
    const std::string instance = gateway.instance(id);
    gateway.pass(2min);  // it starts slowly
    REQUIRE(gateway.status(id) == created);
    run_instance(world, instance);
    gateway.pass_as(created, id, 30s);
    REQUIRE(gateway.status(id) == error);
    CHECK(gateway.message(id) == "no streamer in the instance connected within 30s");
    StreamPeer late = gateway.connect_instance(id);
    CHECK(gateway.await(id, active));
}

TEST_CASE("a session that failed tells why when it ends, also of idleness") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"joinable":true,"ephemeral":false)");
    run_instance(world, gateway.instance(id));
    gateway.pass_as(created, id, 30s);
    REQUIRE(gateway.status(id) == error);
    gateway.pass(world.config.limits.idle);
    REQUIRE(gateway.await(id, terminated));
    CHECK(gateway.message(id) == "no streamer in the instance connected within 30s");
}

TEST_CASE("a streamer that connects in time is no error later") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"joinable":true)");
    run_instance(world, gateway.instance(id));
    gateway.pass(29s);
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    gateway.pass(1min);
    CHECK(gateway.status(id) == active);
}

TEST_CASE("an instance without a streamer is an error of a restarted gateway, too") {
    SessionWorld world;
    world.config.limits.streamer = 20s;
    world.config.limits.launch = 24h;
    std::string id;
    {
        Gateway gateway(world);
        id = gateway.create(R"(,"joinable":true,"idle_time_min":0)");
        run_instance(world, gateway.instance(id));
    }
    Gateway gateway(world);
    REQUIRE(world.eventually([&] {
        gateway.pass_a_second();
        return gateway.status(id) == error;
    }));
    CHECK(gateway.message(id) == "no streamer in the instance connected within 20s");
}

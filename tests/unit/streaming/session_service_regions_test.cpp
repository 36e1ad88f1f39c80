// Regions that cannot launch the instance of a session: why is told, and another region may.
#include "libsvc/streaming/sessions/session_service.h"

#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

const std::string full =
    "No suitable node to satisfy container requirement available (node0: cpus short by 2)";

// Of two regions, "north" is the one that a session without a wish comes to first.
struct TwoRegions : SessionWorld {
    TwoRegions() {
        Gateway gateway(*this, true);
        gateway.instance(gateway.create(R"(,"region":"south","joinable":true)"));
    }
};

}  // namespace

TEST_CASE("a launch that found no room is the session's error, in the words of the management service") {
    SessionWorld world;
    world.management.set_full(full);
    Gateway gateway(world);
    const SessionGrant grant = gateway.service.create("me", gateway.request());
    REQUIRE(gateway.await(grant.session.id, error));
    CHECK(gateway.message(grant.session.id) == full);
    CHECK(gateway.service.get("", grant.session.id).container_id.empty());
    StreamPeer client = gateway.connect_client(grant);
    CHECK(world.eventually([&] { return client.socket->was_sent(full); }));
}

TEST_CASE("a launch that fails after a while tells why, a deletion by somebody else is no failure of it") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string late = gateway.create();
    world.management.fail_launch(gateway.instance(late), full);
    REQUIRE(gateway.await(late, error));
    CHECK(gateway.message(late) == full);
    const std::string deleted = gateway.create();
    world.management.vanish(gateway.instance(deleted));
    REQUIRE(gateway.await(deleted, error));
    CHECK(gateway.message(deleted) == "Container was deleted before it was ready");
}

TEST_CASE("why a launch failed is told although its instance was found before the launch was answered") {
    SessionWorld world;
    Gateway gateway(world);
    world.management.on_launched([&](const StreamLaunch& launch) {
        world.management.tell("");
        world.eventually([&] { return !world.stored(launch.session)->container_id.empty(); });
    });
    const std::string id = gateway.create();
    world.management.fail_launch(gateway.instance(id), full);
    REQUIRE(gateway.await(id, error));
    CHECK(gateway.message(id) == full);
}

TEST_CASE("a session without a wish goes on to the next region when one has no room") {
    TwoRegions world;
    world.management.set_full(full);
    Gateway gateway(world, true);
    const SessionGrant grant = gateway.service.create("me", gateway.request());
    const std::string id = grant.session.id;
    CHECK(grant.session.region == "north");
    world.other.await_launches(2);
    REQUIRE(world.eventually([&] { return !gateway.service.get("", id).container_id.empty(); }));
    CHECK(gateway.service.get("", id).region == "south");
    CHECK(world.other.launches().back().user_data.at("streaming").at("metrics_labels").at("region") ==
          Json("south"));
    StreamPeer client = gateway.connect_client(grant);  // the address it was given stays good
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    CHECK(gateway.message(id).empty());
    CHECK(world.management.launches().size() == 1);
    gateway.service.remove("me", id, {.force = false, .sync = true});
    CHECK(world.other.instances() == 1);
}

TEST_CASE("a region that had no room a moment ago is not tried first") {
    TwoRegions world;
    world.management.set_full(full);
    Gateway gateway(world, true);
    const std::string first = gateway.create();
    REQUIRE(world.eventually([&] { return gateway.service.get("", first).region == "south"; }));
    CHECK(gateway.service.create("me", gateway.request()).session.region == "south");
    const std::string bound = gateway.create(R"(,"region":"north")");
    REQUIRE(gateway.await(bound, error));
    CHECK(gateway.message(bound) == full);
    world.clock.advance(5s);
    CHECK(gateway.service.create("me", gateway.request()).session.region == "north");
}

TEST_CASE("a region that does not know what a session wants may have room for others") {
    TwoRegions world;
    world.management.on_launch(
        [](const auto&) { throw Error(ErrorCode::not_found, "application version not found"); });
    Gateway gateway(world, true);
    const std::string first = gateway.create();
    REQUIRE(world.eventually([&] { return gateway.service.get("", first).region == "south"; }));
    CHECK(gateway.service.create("me", gateway.request()).session.region == "north");
}

TEST_CASE("a launch that a region refuses at once goes on to the next region, too") {
    TwoRegions world;
    world.management.on_launch([](const auto&) { throw Error(ErrorCode::internal, "queue is full"); });
    Gateway gateway(world, true);
    const std::string id = gateway.create();
    world.other.await_launches(2);
    CHECK(world.eventually([&] { return gateway.service.get("", id).region == "south"; }));
}

TEST_CASE("a session fails with every region's reason when none has room, each asked once") {
    TwoRegions world;
    world.management.set_full(full);
    world.other.set_full("No suitable node (node7: offline)");
    Gateway gateway(world, true);
    const std::string id = gateway.create();
    REQUIRE(gateway.await(id, error));
    CHECK(gateway.message(id) == "north: " + full + "; south: No suitable node (node7: offline)");
    CHECK(world.management.launches().size() == 1);
    CHECK(world.other.launches().size() == 2);
}

TEST_CASE("a session that its region does not launch in time tells what was the matter") {
    SessionWorld world;
    Gateway gateway(world);
    world.clock.await_waiters(1);
    world.management.set_answers(false);
    world.clock.advance(20s);
    REQUIRE(world.eventually([&] { return !gateway.regions.answers("north"); }));
    StreamSession session;
    session.id = world.ids.object_id();
    session.app = "app";
    session.region = "north";
    session.created_at = session.changed_at = session.client_left_at = world.clock.now() - 5min;
    world.put(session);
    gateway.service.tick();
    REQUIRE(gateway.await(session.id, error));
    CHECK(gateway.message(session.id) == "Container failed to start: region 'north' does not answer");
}

TEST_CASE("a session whose region was asked for stays there") {
    SessionWorld world;
    world.management.set_full(full);
    Gateway gateway(world, true);
    const std::string id = gateway.create(R"(,"region":"north")");
    REQUIRE(gateway.await(id, error));
    CHECK(gateway.message(id) == full);
    CHECK(gateway.service.get("", id).region == "north");
    CHECK(world.other.launches().empty());
}

TEST_CASE("a region that does not answer is no next region") {
    TwoRegions world;
    world.management.set_full(full);
    Gateway gateway(world, true);
    world.clock.await_waiters(2);  // both askers, before more than they wait
    world.other.set_answers(false);
    gateway.advance(20s);
    REQUIRE(world.eventually([&] { return !gateway.regions.answers("south"); }));
    const std::string id = gateway.create();
    REQUIRE(gateway.await(id, error));
    CHECK(gateway.message(id) == full);
}

TEST_CASE("a gateway that was killed before it went on to the next region does so after its start") {
    SessionWorld world;
    world.take_time();
    std::string id;
    {
        Gateway gateway(world, true);
        id = gateway.create(R"(,"joinable":true,"idle_time_min":0)");
        gateway.instance(id);
    }
    const StreamSession before = *world.stored(id);
    FakeManagement& first = before.region == "north" ? world.management : world.other;
    FakeManagement& second = before.region == "north" ? world.other : world.management;
    first.fail_launch(before.container_id, full);
    Gateway gateway(world, true);
    // At first it may not know of the other region yet; then it tries again.
    REQUIRE(world.eventually([&] {
        gateway.pass_a_second();
        return !second.launches().empty();
    }));
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    CHECK(gateway.service.get("", id).region != before.region);
    CHECK(world.stored(id)->refusals.size() == 1);
}

TEST_CASE("an instance that a region launched after it had refused is deleted when it answers anew") {
    TwoRegions world;
    world.management.set_full(full);
    Gateway gateway(world, true);
    const std::string id = gateway.create();
    world.other.await_launches(2);
    REQUIRE(world.eventually([&] { return !gateway.service.get("", id).container_id.empty(); }));
    world.management.add({"late", id, "running", ""});
    world.management.tell("");
    CHECK(world.eventually([&] { return world.management.instances() == 0; }));
    CHECK(world.other.instances() == 2);
}

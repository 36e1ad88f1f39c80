// The time limits of sessions.
#include <atomic>
#include <memory>

#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

TEST_CASE("an instance that does not register in time is an error, and may still come") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create();
    gateway.instance(id);
    gateway.pass_as(created, id, 5min);
    REQUIRE(gateway.status(id) == error);
    CHECK(gateway.message(id) == "Container failed to start: it did not connect to the gateway within 5m");
    StreamPeer late = gateway.connect_instance(id);
    CHECK(gateway.await(id, active));
}

TEST_CASE("the date may be set: a session has the time to start that its limit says") {
    const auto hour = GENERATE(1h, -1h);
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create();
    gateway.instance(id);
    gateway.service.tick();
    world.clock.step(hour);
    gateway.pass_as(created, id, 5min);
    CHECK(gateway.message(id) == "Container failed to start: it did not connect to the gateway within 5m");
}

TEST_CASE("an instance whose registration could not be stored is seen a second later") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create();
    gateway.instance(id);
    REQUIRE(world.eventually([&] { return world.stored(id)->worker.empty(); }));
    const std::size_t commits = world.store.commits();
    world.store.fail_next();
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(world.eventually([&] { return world.store.commits() > commits; }));
    CHECK(gateway.status(id) == created);
    gateway.service.tick();
    CHECK(gateway.status(id) == active);
}

TEST_CASE("what an instance said that could not be stored counts a second later, in its order") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    const std::string id = grant.session.id;
    // The event is put aside for the next tick some time after its commit has failed.
    const auto await_end = [&] {
        REQUIRE(world.eventually([&] {
            gateway.service.tick();
            return gateway.status(id) == terminated;
        }));
    };
    const auto fail_one = [&, &peer = *instance](bool streams) {
        const std::size_t commits = world.store.commits();
        world.store.fail_next();
        peer.stream(streams);
        REQUIRE(world.eventually([&] { return world.store.commits() > commits; }));
    };
    SECTION("the end of a stream") {
        instance->stream(true);
        REQUIRE(gateway.await_watched(id, true));
        fail_one(false);
        CHECK(gateway.status(id) == active);
        await_end();
        CHECK(gateway.message(id) == "Client left");
    }
    SECTION("its beginning, and its end right behind") {
        fail_one(true);
        instance->stream(false);
        await_end();
        CHECK(world.stored(id)->had_client);
    }
}

TEST_CASE("a session without a client ends when its idle time is over, in any live state") {
    SessionWorld world;
    Gateway gateway(world);
    const auto from = GENERATE(created, active, error);
    INFO(to_text(from));
    const std::string id = gateway.create(R"(,"joinable":true,"ephemeral":false,"idle_time_min":)" +
                                          std::string(from == created ? "4" : "6"));
    gateway.instance(id);
    if (from == error) world.management.move(gateway.instance(id), "error", "broken");
    std::unique_ptr<StreamPeer> instance;
    if (from == active) instance = std::make_unique<StreamPeer>(gateway.connect_instance(id));
    REQUIRE(gateway.await(id, from));
    const auto idle = from == created ? 4min : 6min;
    gateway.pass_as(from, id, idle);
    REQUIRE(gateway.await(id, terminated));
    const std::string reason =
        from == error ? "broken" : "Idle for " + std::to_string(idle.count()) + " minutes";
    CHECK(gateway.message(id) == reason);
    CHECK(world.management.instances() == 0);
}

TEST_CASE("idle time begins when the instance is ready") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"joinable":true,"ephemeral":false,"idle_time_min":1)");
    gateway.instance(id);
    gateway.advance(50s);
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    gateway.pass_as(active, id, 1min);
    REQUIRE(gateway.await(id, terminated));
    CHECK(gateway.message(id) == "Idle for 1 minute");
}

TEST_CASE("idle time counts from the end of the stream, not of the signalling") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true,"idle_time_min":1,"ephemeral":false)");
    const std::string id = grant.session.id;
    StreamPeer client = gateway.connect_client(grant);
    instance->stream(true);
    REQUIRE(gateway.await_watched(id, true));
    client.hang_up();
    gateway.pass(10min);
    REQUIRE(gateway.status(id) == active);
    instance->stream(false);
    REQUIRE(gateway.await_watched(id, false));
    gateway.pass_as(active, id, 1min);
    CHECK(gateway.await(id, terminated));
}

TEST_CASE("an instance that was lost while it streamed is waited for two minutes") {
    SessionWorld world;
    Gateway gateway(world);
    const auto joinable = GENERATE(true, false);
    INFO((joinable ? "joinable" : "not joinable"));
    auto [grant, instance] = gateway.active(
        std::string(R"(,"idle_time_min":1,"ephemeral":false,"joinable":)") + (joinable ? "true" : "false"));
    const std::string id = grant.session.id;
    instance->stream(true);
    REQUIRE(gateway.await_watched(id, true));
    const auto pass = [&](Duration time) {
        gateway.service.tick();
        gateway.pass(time);
    };
    instance->hang_up();
    pass(2min - 1s);
    REQUIRE(gateway.service.get("", id).client_connected);
    {
        StreamPeer again = gateway.connect_instance(id);  // a short loss
        pass(10min);
        REQUIRE(gateway.service.get("", id).client_connected);
    }
    pass(2min - 1s);
    REQUIRE(gateway.service.get("", id).client_connected);
    pass(1s);
    CHECK_FALSE(gateway.service.get("", id).client_connected);
    if (!joinable) {
        REQUIRE(gateway.await(id, terminated));
        CHECK(gateway.message(id) == "Instance does not answer");
        return;
    }
    CHECK(gateway.status(id) == active);
    pass(1min - 1s);
    REQUIRE(gateway.status(id) == active);
    pass(1s);
    CHECK(gateway.await(id, terminated));
}

TEST_CASE("an instance that a restarted gateway does not see again is waited for as long") {
    SessionWorld world;
    std::string id;
    {
        Gateway gateway(world);
        auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
        id = grant.session.id;
        instance->stream(true);
        REQUIRE(gateway.await_watched(id, true));
    }
    Gateway gateway(world);
    gateway.service.tick();
    gateway.pass_as(active, id, 2min);
    CHECK(gateway.await(id, terminated));
}

TEST_CASE("what an instance in error said last stays when it is away") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active();
    const std::string id = grant.session.id;
    instance->stream(true);
    instance->say(R"({"type":"ctl:status","status":"error","message":"no encoder"})");
    REQUIRE(gateway.await(id, error));
    instance->hang_up();
    gateway.service.tick();
    gateway.pass(2min);
    CHECK_FALSE(gateway.service.get("", id).client_connected);
    CHECK(gateway.message(id) == "no encoder");
}

TEST_CASE("sessions end whose account is gone") {
    SessionWorld world;
    std::atomic<bool> is_there{true};
    world.config.has_owner = [&](const std::string& owner) { return owner != "me" || is_there; };
    Gateway gateway(world);
    const auto at_once = GENERATE(true, false);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    const std::string others = gateway.service.create("you", gateway.request()).session.id;
    const std::string local = gateway.service.create("", gateway.request()).session.id;
    gateway.service.tick();
    REQUIRE(gateway.status(grant.session.id) == active);
    is_there = false;
    at_once ? gateway.service.end_ownerless() : gateway.service.tick();
    REQUIRE(gateway.await(grant.session.id, terminated));
    CHECK(gateway.message(grant.session.id) == "Account was deleted");
    CHECK(gateway.status(others) == created);
    CHECK(gateway.status(local) == created);
    gateway.service.end_ownerless();
    CHECK(gateway.status(grant.session.id) == terminated);
}

TEST_CASE("a session for which no idle time was told has the gateway's") {
    SessionWorld world;
    world.config.limits.idle = GENERATE(30min, 45min);
    world.config.limits.client_token = 24h;
    Gateway gateway(world);
    const auto joinable = GENERATE(true, false);
    auto [grant, instance] =
        gateway.active(std::string(R"(,"ephemeral":false,"joinable":)") + (joinable ? "true" : "false"));
    gateway.pass_as(active, grant.session.id, world.config.limits.idle);
    REQUIRE(gateway.await(grant.session.id, terminated));
    CHECK(gateway.message(grant.session.id).starts_with("Idle for "));
}

TEST_CASE("without an idle time of the gateway's own a session stays") {
    SessionWorld world;
    world.config.limits.idle = 0min;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true)");
    gateway.pass(24h * 30);
    CHECK(gateway.status(grant.session.id) == active);
}

TEST_CASE("a session without an idle time stays") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true,"idle_time_min":0)");
    gateway.pass(24h * 30);
    CHECK(gateway.status(grant.session.id) == active);
}

TEST_CASE("the only client a session can have is waited for as long as its token is good") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    const std::string id = grant.session.id;
    gateway.advance(2min);
    const auto come = GENERATE(false, true);
    if (come) gateway.connect_client(grant).hang_up();  // without media
    gateway.pass_as(active, id, come ? 5min : 3min);
    REQUIRE(gateway.await(id, terminated));
}

TEST_CASE("a client that signals and never answers has five minutes from when the instance is ready") {
    SessionWorld world;
    world.config.limits.launch = 1h;
    Gateway gateway(world);
    const SessionGrant grant = gateway.service.create("me", gateway.request(R"(,"ephemeral":false)"));
    const std::string id = grant.session.id;
    gateway.instance(id);
    StreamPeer client = gateway.connect_client(grant);
    gateway.pass(20min);
    REQUIRE(gateway.status(id) == created);
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    gateway.pass_as(active, id, 5min);
    REQUIRE(gateway.await(id, terminated));
    CHECK(gateway.message(id) == "Client did not answer");
    CHECK(client.socket->was_sent(R"({"type":"error","code":"expired","message":"no answer in time"})"));
}

TEST_CASE("a client that watches keeps its session while its signalling is open") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active();
    StreamPeer client = gateway.connect_client(grant);
    instance->stream(true);
    REQUIRE(gateway.await_watched(grant.session.id, true));
    gateway.pass(20min);
    CHECK(gateway.status(grant.session.id) == active);
}

TEST_CASE("a client of a session that others may join can signal for as long as it likes") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true,"idle_time_min":60)");
    StreamPeer client = gateway.connect_client(grant);
    gateway.pass(20min);
    CHECK(gateway.status(grant.session.id) == active);
}

TEST_CASE("a session in error is kept for a day, for whoever wants to know why") {
    SessionWorld world;
    world.management.on_launch([](const auto&) { throw Error(ErrorCode::exhausted, "no node has room"); });
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"ephemeral":false,"idle_time_min":0)");
    REQUIRE(gateway.await(id, error));
    gateway.pass_as(error, id, 24h);
    REQUIRE(gateway.await(id, terminated));
    CHECK(gateway.message(id) == "no node has room");
}

TEST_CASE("a terminated session that is not ephemeral is kept for an hour") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"ephemeral":false)");
    gateway.service.remove("me", id, {.force = false, .sync = true});
    REQUIRE(gateway.status(id) == terminated);
    gateway.pass(1h - 1s);
    REQUIRE(gateway.exists(id));
    gateway.pass(1s);
    CHECK(gateway.await_gone(id));
}

TEST_CASE("a deletion that takes too long is an error, and goes on") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    const std::string id = grant.session.id;
    world.management.on_remove(
        [](const auto&, bool) { throw Error(ErrorCode::internal, "the guest does not stop"); });
    gateway.service.remove("me", id, {});
    CHECK(gateway.status(id) == terminating);
    gateway.pass_as(terminating, id, 2min);
    REQUIRE(gateway.status(id) == error);
    CHECK(gateway.message(id) == "Container was not deleted in time");
    CHECK(code_of([&] { gateway.connect_instance(id); }) == ErrorCode::not_found);
    world.management.on_remove(nullptr);
    gateway.pass(1min);
    CHECK(gateway.await(id, terminated));
    CHECK(world.management.instances() == 0);
}

TEST_CASE("the region is told every 20 s which instances are watched") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true,"ephemeral":false)");
    const std::string id = grant.session.id;
    const std::string used = gateway.instance(id);
    StreamPeer client = gateway.connect_client(grant);
    gateway.pass(1min);
    CHECK(world.management.uses().empty());  // no media yet
    instance->stream(true);
    REQUIRE(gateway.await_watched(id, true));
    gateway.pass(20s);
    world.management.await_uses(1);
    const std::size_t reports = world.management.uses().size();
    gateway.pass(20s);
    world.management.await_uses(reports + 1);
    for (const auto& report : world.management.uses()) CHECK(report == std::vector{used});
}

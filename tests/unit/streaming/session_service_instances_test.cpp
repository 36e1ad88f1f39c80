// How a session ends when its instance fails, stops, or is deleted.
#include <atomic>
#include <optional>

#include "libsvc/streaming/sessions/session_service.h"
#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using enum SessionStatus;

TEST_CASE("a launch that is refused puts the session into error with the reason") {
    SessionWorld world;
    world.management.on_launch([](const auto&) { throw Error(ErrorCode::exhausted, "no node has room"); });
    Gateway gateway(world);
    const SessionGrant grant = gateway.service.create("me", gateway.request());
    REQUIRE(gateway.await(grant.session.id, error));
    CHECK(gateway.message(grant.session.id) == "no node has room");
    CHECK(world.stored(grant.session.id));
    StreamPeer client = gateway.connect_client(grant);
    CHECK(world.eventually([&] { return client.socket->was_sent("no node has room"); }));
}

TEST_CASE("an instance that fails puts its session into error, one that registers again out of it") {
    SessionWorld world;
    Gateway gateway(world);
    const auto how = GENERATE(as<std::string>(), "reports", "crashes", "ends with an error");
    const auto was_active = GENERATE(true, false);
    INFO(how << (was_active ? " when active" : " when created"));
    const SessionGrant grant = gateway.service.create("me", gateway.request(R"(,"joinable":true)"));
    const std::string id = grant.session.id;
    const std::string container = gateway.instance(id);
    std::unique_ptr<StreamPeer> instance;
    if (was_active || how == "reports") {
        instance = std::make_unique<StreamPeer>(gateway.connect_instance(id));
        REQUIRE(gateway.await(id, active));
    }
    StreamPeer client = gateway.connect_client(grant);
    if (how == "reports") instance->say(R"({"type":"ctl:status","status":"error","message":"out of order"})");
    if (how == "crashes") world.management.move(container, "error", "out of order");
    if (how == "ends with an error") world.management.move(container, "stopped", "out of order");
    REQUIRE(gateway.await(id, error));
    CHECK(gateway.message(id) == "out of order");
    CHECK(world.eventually([&] { return client.socket->was_sent("out of order"); }));
    if (how != "reports") world.management.move(container, "running");
    StreamPeer again = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    CHECK(gateway.message(id).empty());
}

TEST_CASE("what was seen of an instance before it registered again counts no more") {
    const std::string seen = GENERATE("error", "stopped");
    SessionWorld world;
    std::atomic<int> looks{0};
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"joinable":true)");
    const std::string container = gateway.instance(id);
    world.management.move(container, "error", "out of order");
    REQUIRE(gateway.await(id, error));
    std::optional<StreamPeer> instance;
    world.management.on_look([&](const auto&) {
        if (looks++ > 0) return;
        world.management.move(container, "running");
        instance.emplace(gateway.connect_instance(id));
        gateway.await(id, active);
    });
    world.management.move(container, seen, seen == "error" ? "out of order" : "");
    REQUIRE(world.eventually([&] { return looks > 1; }));
    CHECK(gateway.status(id) == active);
    world.management.on_look(nullptr);
}

TEST_CASE("a reason that an instance gives is kept as one line that is not long") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"joinable":true)");
    const std::string id = grant.session.id;
    const auto told = [&, &instance = instance](const std::string& message) {
        instance->say(R"({"type":"ctl:status","status":"error","message":")" + message + R"("})");
        REQUIRE(gateway.await(id, error));
        const std::string kept = gateway.message(id);
        instance->say(R"({"type":"ctl:status","status":"running"})");
        REQUIRE(gateway.await(id, active));
        return kept;
    };
    CHECK(told(R"(no\nsound\u0000\u001b[1m\u007f\u0085, \u00e4\u00a0)") == "no sound[1m, \u00e4\u00a0");
    CHECK(told(R"(\u0001)") == "Container failed");
    const std::string kept = told("x" + std::string(200'000, '-'));
    CHECK(kept == "x" + std::string(1023, '-'));
    std::string wide = "x";
    while (wide.size() < 3000) wide += "\u00e4";
    CHECK(told(wide) == wide.substr(0, 1023));
}

TEST_CASE("an instance that stops by itself ends its session and is deleted") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    const std::string id = grant.session.id;
    world.management.move(gateway.instance(id), "stopped");
    REQUIRE(gateway.await(id, terminated));
    CHECK(gateway.message(id) == "Container stopped");
    CHECK(world.eventually([&] { return gateway.service.get("me", id).container_id.empty(); }));
    CHECK(world.management.instances() == 0);
    CHECK(instance->socket->is_closed());
    CHECK(gateway.relay.sessions() == 0);
}

TEST_CASE("an ephemeral session whose instance stopped by itself is dropped") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active();
    world.management.move(gateway.instance(grant.session.id), "stopped");
    CHECK(gateway.await_gone(grant.session.id));
    CHECK(world.management.instances() == 0);
}

TEST_CASE("an instance that stops before it registers is an error") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create();
    world.management.move(gateway.instance(id), "stopped");
    REQUIRE(gateway.await(id, error));
    CHECK(gateway.message(id) == "Container stopped before it was ready");
}

TEST_CASE("an instance that somebody else deletes ends its session") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    world.management.vanish(gateway.instance(grant.session.id));
    REQUIRE(gateway.await(grant.session.id, terminated));
    CHECK(gateway.message(grant.session.id) == "Container was deleted");
    CHECK(gateway.service.get("", grant.session.id).container_id.empty());
    const std::string young = gateway.create();
    world.management.vanish(gateway.instance(young));
    REQUIRE(gateway.await(young, error));
    CHECK(gateway.message(young) == "Container was deleted before it was ready");
    CHECK(gateway.service.get("", young).container_id.empty());
}

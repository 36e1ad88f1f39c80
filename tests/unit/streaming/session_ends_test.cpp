// What a client that signals is told when its stream ends, and with it the instance, by code.
#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

// A session with an instance and a client that signals.
struct Signalled {
    explicit Signalled(std::string_view more = R"(,"joinable":true)") : made(gateway.active(more)) {}

    bool told(StreamPeer& peer, const std::string& text) {
        return world.eventually([&] { return peer.socket->was_sent(text); });
    }
    bool told_both(const std::string& code) {
        return told(client, R"({"type":"error","code":")" + code + '"') &&
               told(*made.second, R"("code":")" + code + '"') &&
               world.eventually([&] { return client.socket->is_closed(); });
    }

    SessionWorld world;
    Gateway gateway{world};
    std::pair<SessionGrant, std::unique_ptr<StreamPeer>> made;
    std::string id = made.first.session.id;
    StreamPeer client = gateway.connect_client(made.first);
};

}  // namespace

TEST_CASE("a session that is deleted tells its client so, whoever deletes it") {
    Signalled t;
    SECTION("its owner") {
        t.gateway.service.remove("me", t.id, {});
    }
    SECTION("an operator") {
        t.gateway.service.remove("", t.id, {});
    }
    SECTION("by force") {
        t.gateway.service.remove("me", t.id, {.force = true});
    }
    CHECK(t.told_both("deleted"));
}

TEST_CASE("a session whose account is deleted tells its client so") {
    bool has_owner = true;
    SessionWorld world;
    world.config.has_owner = [&](const SessionOwner&) { return has_owner; };
    Gateway gateway(world);
    auto [grant, instance] = gateway.active();
    StreamPeer client = gateway.connect_client(grant);
    has_owner = false;
    gateway.service.end_ownerless();
    CHECK(world.eventually([&] { return client.socket->was_sent(R"("code":"deleted")"); }));
}

TEST_CASE("a session that ends of idleness tells the client that signals so") {
    Signalled t(R"(,"joinable":true,"idle_time_min":1)");
    t.gateway.pass(1min);
    CHECK(t.told_both("idle"));
}

TEST_CASE("a client that signals and never gets to media is told that its time is over") {
    Signalled t("");
    t.gateway.pass(t.world.config.limits.client_token);
    CHECK(t.told(t.client, R"({"type":"error","code":"expired")"));
}

TEST_CASE("an instance that stops or is deleted is told to its client") {
    Signalled t;
    const std::string instance = t.gateway.instance(t.id);
    SECTION("stopped, as a guest that powers off is") {
        t.world.management.move(instance, "stopped");
        CHECK(t.told_both("stopped"));
    }
    SECTION("deleted") {
        t.world.management.vanish(instance);
        CHECK(t.told_both("instance_deleted"));
    }
    SECTION("failed") {
        t.world.management.move(instance, "error", "the disk is full");
        CHECK(t.told(t.client, R"({"type":"error","code":"failed","message":"the disk is full"})"));
    }
}

TEST_CASE("a session that nobody else may join tells so when its client has left") {
    Signalled t("");
    t.made.second->stream(true);
    REQUIRE(t.gateway.await_watched(t.id, true));
    t.made.second->stream(false);
    CHECK(t.told_both("client_left"));
}

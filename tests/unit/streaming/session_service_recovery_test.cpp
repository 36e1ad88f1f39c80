// What a gateway finds when it starts, when a region comes back, and beside another gateway.
#include <atomic>
#include <future>

#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

// As another gateway's process left it when it was killed.
StreamSession left_behind(SessionWorld& world, SessionStatus status) {
    StreamSession session;
    session.id = world.ids.object_id();
    session.account = "me";
    session.app = "app";
    session.region = "north";
    session.ephemeral = false;
    session.joinable = true;
    session.status = status;
    session.created_at = session.changed_at = session.client_left_at = world.clock.now();
    session.removal_due = status == terminating;
    session.worker = "killed";
    session.worker_until = world.clock.now() + 15s;
    return session;
}

// With its instance, which runs.
void put_with(SessionWorld& world, StreamSession& session, const std::string& instance) {
    session.container_id = instance;
    world.put(session);
    world.management.add({instance, session.id, "running", ""});
}

}  // namespace

TEST_CASE("a session that was being launched gets the instance that was launched for it") {
    SessionWorld world;
    const StreamSession session = left_behind(world, created);
    world.put(session);
    world.management.add({"orphan", session.id, "running", ""});
    Gateway gateway(world);
    CHECK(gateway.instance(session.id) == "orphan");
    CHECK(world.management.launches().empty());
    StreamPeer instance = gateway.connect_instance(session.id);
    CHECK(gateway.await(session.id, active));
}

TEST_CASE("a session that was being launched in vain is launched when its claim is over") {
    SessionWorld world;
    const StreamSession session = left_behind(world, created);
    world.put(session);
    Gateway gateway(world);
    gateway.service.tick();
    CHECK(world.management.launches().empty());
    gateway.pass(16s);
    gateway.instance(session.id);
    CHECK(world.management.launches().size() == 1);
}

TEST_CASE("a launch whose commit was lost is not made twice") {
    SessionWorld world;
    std::string id;
    {
        Gateway gateway(world);
        world.management.on_launch([&](const auto&) { world.store.fail_all(true); });
        id = gateway.create();
        world.management.await_launches(1);
    }
    world.management.on_launch(nullptr);
    world.store.fail_all(false);
    REQUIRE(world.stored(id)->container_id.empty());
    Gateway gateway(world);
    CHECK(gateway.instance(id) == "instance-1");
    CHECK(world.management.launches().size() == 1);
}

TEST_CASE("a session that a tick sees before its creation is over is launched once") {
    SessionWorld world;
    world.take_time();
    Gateway gateway(world);
    std::atomic<std::size_t> commits = 0;  // before what the launch leads to
    world.management.on_launch([&](const auto&) {
        commits = world.store.commits();
        world.store.fail_next();  // whose it is gets lost
    });
    world.store.after_next([&] {
        gateway.service.tick();
        world.management.await_launches(1);
        world.management.on_launch(nullptr);
        REQUIRE(world.eventually([&] { return world.store.commits() > commits; }));
    });
    const std::string id = gateway.create();
    REQUIRE(world.eventually([&] {
        gateway.pass_a_second();
        return !gateway.service.get("", id).container_id.empty();
    }));
    CHECK(world.management.launches().size() == 1);
}

TEST_CASE("of two instances with one tag the younger is deleted, unless the session has it") {
    SessionWorld world;
    const auto named = GENERATE(as<std::string>(), "", "a-older", "b-younger");
    INFO("named: " << named);
    StreamSession session = left_behind(world, created);
    session.container_id = named;
    world.put(session);
    world.management.add({"a-older", session.id, "running", ""});
    world.management.add({"b-younger", session.id, "running", ""});
    Gateway gateway(world);
    world.management.await_removals(1);
    const std::string kept = named.empty() ? "a-older" : named;
    CHECK(gateway.instance(session.id) == kept);
    CHECK(world.management.instances() == 1);
    CHECK(world.management.instance_of(session.id) == kept);
}

TEST_CASE("an active session survives the gateway") {
    SessionWorld world;
    StreamSession session = left_behind(world, active);
    session.client_connected = session.had_client = true;
    session.joinable = false;
    put_with(world, session, "kept");
    Gateway gateway(world);
    StreamPeer instance = gateway.connect_instance(session.id);
    gateway.pass(10min);
    CHECK(gateway.status(session.id) == active);
    instance.stream(false);
    CHECK(gateway.await(session.id, terminated));
}

TEST_CASE("an active session ends whose instance went before it was known") {
    SessionWorld world;
    StreamSession session = left_behind(world, active);
    world.put(session);
    Gateway gateway(world);
    gateway.pass(16s);
    world.management.tell("");
    REQUIRE(gateway.await(session.id, terminated));
    CHECK(gateway.message(session.id) == "Container was deleted");
}

TEST_CASE("a client that was let in before a restart may come after it, once") {
    SessionWorld world;
    std::optional<SessionGrant> grant;
    const auto joins = GENERATE(false, true);
    const auto came = GENERATE(false, true);
    INFO((joins ? "joined, " : "created, ") << (came ? "came before" : "comes after"));
    {
        Gateway gateway(world);
        auto [first, instance] = gateway.active(joins ? R"(,"joinable":true)" : "");
        grant = joins
                    ? gateway.service.join("me", first.session.id,
                                           SessionJoin::from_json(Json::parse(R"({"screen":{"width":640}})")))
                    : first;
        if (came) gateway.connect_client(*grant);
    }
    Gateway gateway(world);
    StreamPeer instance = gateway.connect_instance(grant->session.id);
    if (!came) {
        StreamPeer client = gateway.connect_client(*grant);
        CHECK(instance.socket->was_sent("ctl:client-joined"));
        CHECK(instance.socket->was_sent(R"("width":640)") == joins);
    }
    CHECK(code_of([&] { gateway.connect_client(*grant); }) == ErrorCode::forbidden);
    CHECK_FALSE(world.stored(grant->session.id)->expected);
}

TEST_CASE("a client whose token is over does not come after a restart") {
    SessionWorld world;
    std::optional<SessionGrant> grant;
    {
        Gateway gateway(world);
        grant = gateway.active(R"(,"joinable":true)").first;
    }
    world.clock.advance(5min);
    Gateway gateway(world);
    CHECK(code_of([&] { gateway.connect_client(*grant); }) == ErrorCode::forbidden);
}

TEST_CASE("a session in error survives the gateway and may recover") {
    SessionWorld world;
    StreamSession session = left_behind(world, error);
    session.status_message = "broken";
    put_with(world, session, "kept");
    Gateway gateway(world);
    CHECK(gateway.message(session.id) == "broken");
    StreamPeer instance = gateway.connect_instance(session.id);
    CHECK(gateway.await(session.id, active));
}

TEST_CASE("a deletion goes on after the gateway was killed") {
    SessionWorld world;
    StreamSession session = left_behind(world, terminating);
    const auto answered = GENERATE(true, false);  // the launch, before
    session.container_id = answered ? "doomed" : "";
    world.put(session);
    world.management.add({"doomed", session.id, "running", ""});
    Gateway gateway(world);
    CHECK(code_of([&] { gateway.connect_instance(session.id); }) == ErrorCode::not_found);
    gateway.pass(16s);
    REQUIRE(gateway.await(session.id, terminated));
    CHECK(world.management.instances() == 0);
}

TEST_CASE("a session deleted by force stays so, its instance is deleted after a restart") {
    SessionWorld world;
    StreamSession session = left_behind(world, terminating);
    session.forgotten = true;
    put_with(world, session, "doomed");
    Gateway gateway(world);
    CHECK_FALSE(gateway.exists(session.id));
    gateway.pass(16s);
    CHECK(world.eventually([&] { return !world.stored(session.id); }));
    CHECK(world.management.instances() == 0);
}

TEST_CASE("a terminated record stays as it is") {
    SessionWorld world;
    const StreamSession session = left_behind(world, terminated);
    world.put(session);
    Gateway gateway(world);
    gateway.service.tick();
    CHECK(gateway.status(session.id) == terminated);
    CHECK(gateway.relay.sessions() == 0);
}

TEST_CASE("an instance of a session that is over is deleted, one of nobody is left alone") {
    SessionWorld world;
    const StreamSession session = left_behind(world, terminated);
    world.put(session);
    world.management.add({"launched-twice", session.id, "running", ""});
    world.management.add({"foreign", "0000000000000000vvv0", "running", ""});
    Gateway gateway(world);
    gateway.pass(16s);
    REQUIRE(world.eventually([&] { return world.management.instances() == 1; }));
    CHECK(world.management.removals() == std::vector<std::string>{"launched-twice"});
    CHECK(gateway.await(session.id, terminated));
}

TEST_CASE("what happened while the region was away is seen when it answers") {
    SessionWorld world;
    Gateway gateway(world);
    std::vector<std::string> ids;
    std::vector<std::unique_ptr<StreamPeer>> instances;
    std::vector<std::string> containers;
    for (int i = 0; i < 4; ++i) {
        auto [grant, instance] = gateway.active(R"(,"joinable":true,"ephemeral":false)");
        ids.push_back(grant.session.id);
        instances.push_back(std::move(instance));
        containers.push_back(gateway.instance(ids.back()));
    }
    world.management.set_answers(false);
    world.clock.await_waiters(2);  // who asks, and who followed
    world.clock.advance(1min);
    world.management.vanish(containers[0]);
    world.management.move(containers[1], "error", "broken");
    world.management.move(containers[2], "stopped");
    gateway.service.tick();
    for (const std::string& id : ids) CHECK(gateway.status(id) == active);
    world.clock.await_waiters(2);  // both have asked in vain
    world.management.set_answers(true);
    gateway.advance(1min);
    CHECK(gateway.await(ids[0], terminated));
    CHECK(gateway.await(ids[1], error));
    CHECK(gateway.message(ids[1]) == "broken");
    CHECK(gateway.await(ids[2], terminated));
    CHECK(gateway.status(ids[3]) == active);
}

TEST_CASE("a launch that the region did not answer is repeated, but not when it was heard") {
    SessionWorld world;
    world.take_time();
    const auto heard = GENERATE(false, true);
    std::atomic<bool> failing{true};
    world.management.on_launch([&](const StreamLaunch& launch) {
        if (!failing.exchange(false)) return;
        if (heard) world.management.add({"heard", launch.session, "created", ""});
        throw Error(ErrorCode::unavailable, "connection lost");
    });
    Gateway gateway(world);
    const std::string id = gateway.create();
    REQUIRE(world.eventually([&] { return !failing; }));
    CHECK(gateway.status(id) == created);
    REQUIRE(world.eventually([&] {
        gateway.pass_a_second();
        return !gateway.service.get("", id).container_id.empty();
    }));
    CHECK(gateway.instance(id) == (heard ? "heard" : "instance-1"));
    CHECK(world.management.instances() == 1);
}

TEST_CASE("an instance that registers before its launch was answered is found by its tag") {
    SessionWorld world;
    Gateway gateway(world);
    LaunchGate gate(world.management);
    const std::string id = gateway.create();
    gate.await();
    StreamPeer instance = gateway.connect_instance(id);
    REQUIRE(gateway.await(id, active));
    gate.open();
    CHECK(gateway.instance(id) == "instance-1");
}

TEST_CASE("a session whose region is not configured any more fails and can be deleted by force") {
    SessionWorld world;
    StreamSession session = left_behind(world, created);
    session.region = "west";
    session.worker = "";
    world.put(session);
    Gateway gateway(world);
    REQUIRE(gateway.await(session.id, error));
    CHECK(gateway.message(session.id) == "region 'west' is not configured");
    gateway.service.remove("me", session.id, {.force = true, .sync = false});
    CHECK(gateway.await_gone(session.id));
}

TEST_CASE("two gateways over one store launch one instance for each session") {
    SessionWorld world;
    Gateway first(world);
    Gateway second(world);
    std::vector<std::string> ids;
    for (int i = 0; i < 20; ++i) ids.push_back((i % 2 == 0 ? first : second).create());
    for (int i = 0; i < 20; ++i) {
        first.service.tick();
        second.service.tick();
        world.management.tell("");
    }
    for (const std::string& id : ids) {
        const std::string instance = first.instance(id);
        CHECK(world.management.instance_of(id) == instance);
    }
    CHECK(world.management.launches().size() == 20);
    CHECK(world.management.instances() == 20);
    const SessionService::Deletion waiting{.force = false, .sync = true};
    auto work = std::async(std::launch::async, [&] { return second.service.remove_all("me", ids, waiting); });
    REQUIRE(world.eventually([&] {
        second.service.tick();
        return second.service.list("", {}).total == 0;
    }));
    second.service.tick();
    const SessionDeletions deletions = work.get();
    CHECK(deletions.deleted.size() == 20);
    CHECK(world.management.instances() == 0);
    CHECK(world.management.removals().size() == 20);
}

TEST_CASE("two gateways that find one abandoned session launch it once") {
    SessionWorld world;
    StreamSession session = left_behind(world, created);
    session.worker_until = world.clock.now();
    Gateway first(world);
    Gateway second(world);
    std::atomic<int> asked{0};
    world.management.on_launch([&](const auto&) { ++asked; });
    world.put(session);
    auto other = std::async(std::launch::async, [&] { second.service.tick(); });
    first.service.tick();
    other.get();
    world.management.await_launches(1);
    const std::string instance = first.instance(session.id);
    CHECK(second.instance(session.id) == instance);
    CHECK(asked == 1);
}

TEST_CASE("a claim is kept while its work goes on") {
    SessionWorld world;
    Gateway first(world);
    LaunchGate gate(world.management);
    const std::string id = first.create();
    gate.await();
    Gateway second(world);
    for (int i = 0; i < 30; ++i) {
        first.advance(2s);
        first.service.tick();
        second.service.tick();
    }
    CHECK(world.stored(id)->worker_until > world.clock.now());
    gate.open();
    CHECK(first.instance(id) == "instance-1");
    CHECK(world.management.launches().size() == 1);
}

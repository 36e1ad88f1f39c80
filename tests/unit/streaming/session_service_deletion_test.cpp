// Deletion: single and batch, waiting or not, by force.
#include <atomic>
#include <future>
#include <thread>

#include "tests/support/eventually.h"
#include "tests/unit/streaming/session_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;
using enum SessionStatus;

namespace {

constexpr SessionService::Deletion waiting{.force = false, .sync = true};
constexpr SessionService::Deletion forced{.force = true, .sync = false};

std::vector<std::string> all_ids(Gateway& gateway) {
    std::vector<std::string> ids;
    for (const StreamSession& session : gateway.service.list("", {}).sessions) ids.push_back(session.id);
    return ids;
}

}  // namespace

TEST_CASE("a gateway that stops does not wait for instances to go") {
    SessionWorld world;
    world.management.set_removes(false);
    std::string id;
    {
        Gateway gateway(world);
        id = gateway.create();
        gateway.instance(id);
        gateway.service.remove("me", id, {});
    }
    CHECK(world.management.removals().empty());
    REQUIRE(world.stored(id));
    CHECK(world.stored(id)->removal_due);
}

TEST_CASE("a deleted session is over when its instance is gone") {
    SessionWorld world;
    Gateway gateway(world);
    RemovalGate gate(world.management);
    const auto from = GENERATE(created, active, error);
    const auto ephemeral = GENERATE(true, false);
    INFO(to_text(from) << (ephemeral ? ", ephemeral" : ""));
    const std::string id = gateway.create(ephemeral ? "" : R"(,"ephemeral":false)");
    const std::string container = gateway.instance(id);
    std::unique_ptr<StreamPeer> instance;
    if (from == active) instance = std::make_unique<StreamPeer>(gateway.connect_instance(id));
    if (from == error) world.management.move(container, "error", "broken");
    REQUIRE(gateway.await(id, from));
    gateway.service.remove("me", id, {});
    CHECK(gateway.status(id) == terminating);
    CHECK(gateway.message(id) == "Deleted by request");
    CHECK(gateway.relay.sessions() == 0);
    CHECK_NOTHROW(gateway.service.remove("me", id, {}));
    gate.open();
    CHECK((ephemeral ? gateway.await_gone(id) : gateway.await(id, terminated)));
    CHECK(world.management.removals() == std::vector<std::string>{container});
    if (!ephemeral) CHECK(gateway.service.get("me", id).container_id.empty());
}

TEST_CASE("a deletion can be waited for") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create();
    gateway.instance(id);
    gateway.service.remove("me", id, waiting);
    CHECK(world.management.instances() == 0);
    CHECK(code_of([&] { gateway.service.get("me", id); }) == ErrorCode::not_found);
    CHECK(code_of([&] { gateway.service.remove("me", id, waiting); }) == ErrorCode::not_found);
}

TEST_CASE("a deletion is not waited for longer than its limit") {
    SessionWorld world;
    Gateway gateway(world);
    RemovalGate gate(world.management);
    const std::string id = gateway.create();
    gateway.instance(id);
    auto late = std::async(std::launch::async,
                           [&] { return code_of([&] { gateway.service.remove("me", id, waiting); }); });
    REQUIRE(gateway.await(id, terminating));
    gateway.pass(2min);
    CHECK(late.get() == ErrorCode::internal);
    CHECK(gateway.status(id) == error);
    gate.open();
    CHECK(gateway.await_gone(id));
}

TEST_CASE("deletions that are waited for begin at once, so many of one account") {
    SessionWorld world;
    std::atomic<int> gone{0};  // before the gateway: one that stops tells those who still wait
    Gateway gateway(world);
    RemovalGate gate(world.management);
    const auto begin = [&](const std::string& owner) {
        const std::string id = gateway.service.create(owner, gateway.request()).session.id;
        gateway.instance(id);
        gateway.service.remove_later(owner, {id}, false, [&gone, id](const SessionDeletions& result) {
            gone += result.deleted == std::vector<std::string>{id};
        });
        return id;
    };
    const auto remove = [&](const std::string& owner) { return gateway.status(begin(owner)); };
    for (int i = 0; i < 16; ++i) REQUIRE(remove("me") == terminating);
    CHECK(message_of([&] { remove("me"); }) == "Too many requests");
    CHECK(code_of([&] { remove("me"); }) == ErrorCode::invalid_argument);
    CHECK(remove("you") == terminating);
    for (int i = 0; i < 20; ++i) REQUIRE(remove("") == terminating);
    CHECK(gateway.service.counts().at(created) == 2);
    gate.open();
    REQUIRE(world.eventually([&] { return gone == 37; }));
    CHECK_NOTHROW(begin("me"));  // which may be gone by now
    CHECK(world.eventually([&] { return gone == 38; }));
}

TEST_CASE("who waits for a deletion is told when the gateway stops") {
    SessionWorld world;
    world.management.set_removes(false);
    std::promise<SessionDeletions> told;
    {
        Gateway gateway(world);
        const std::string id = gateway.create();
        gateway.instance(id);
        gateway.service.remove_later("me", {id}, false,
                                     [&](const SessionDeletions& result) { told.set_value(result); });
    }
    const SessionDeletions result = told.get_future().get();
    REQUIRE(result.errors.size() == 1);
    CHECK(result.errors.front().code == ErrorCode::unavailable);
    CHECK(result.deleted.empty());
}

TEST_CASE("a record that is kept can be deleted") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create(R"(,"ephemeral":false)");
    gateway.service.remove("me", id, waiting);
    REQUIRE(gateway.status(id) == terminated);
    gateway.service.remove("me", id, {});
    CHECK_FALSE(gateway.exists(id));
    CHECK_FALSE(world.stored(id));
}

TEST_CASE("a session deleted while it is launched leaves no instance") {
    SessionWorld world;
    Gateway gateway(world);
    LaunchGate gate(world.management);
    const std::string id = gateway.create();
    gate.await();
    gateway.service.remove("me", id, {});
    CHECK(gateway.status(id) == terminating);
    gate.open();
    CHECK(gateway.await_gone(id));
    CHECK(world.management.launches().size() == 1);
    CHECK(world.management.instances() == 0);
}

TEST_CASE("a session deleted before its creation is over leaves nothing") {
    SessionWorld world;
    Gateway gateway(world);
    world.store.after_next([&] {
        for (const std::string& id : all_ids(gateway)) {
            gateway.service.remove("", id, forced);
            gateway.await_gone(id);
        }
    });
    CHECK(code_of([&] { gateway.create(); }) == ErrorCode::not_found);
    CHECK(gateway.relay.sessions() == 0);
    CHECK(world.sqlite.list("stream-sessions/").empty());
}

TEST_CASE("a session whose region is away is deleted by force, its instance when the region is back") {
    SessionWorld world;
    Gateway gateway(world);
    auto [grant, instance] = gateway.active(R"(,"ephemeral":false)");
    const std::string id = grant.session.id;
    world.management.add({"somebody-elses", "0000000000000000vvv0", "running", ""});
    world.management.set_answers(false);
    world.clock.await_waiters(2);  // who asks, and who followed
    world.clock.advance(1min);
    gateway.service.remove("me", id, {});
    CHECK(gateway.status(id) == terminating);
    gateway.service.remove("me", id, forced);
    CHECK_FALSE(gateway.exists(id));
    CHECK(gateway.service.list("", {}).total == 0);
    CHECK(gateway.service.counts().at(terminating) == 0);
    CHECK(instance->socket->is_closed());
    CHECK(world.management.instances() == 2);
    world.management.set_answers(true);
    gateway.advance(1min);
    CHECK(gateway.await_gone(id));
    CHECK(world.management.instances() == 1);
    CHECK(world.management.instance_of("0000000000000000vvv0") == "somebody-elses");
}

TEST_CASE("a batch tells what was deleted and what was not") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string one = gateway.create();
    const std::string two = gateway.create(R"(,"ephemeral":false)");
    const std::string foreign = gateway.service.create("you", gateway.request()).session.id;
    const std::string absent = "0000000000000000vvv0";
    const SessionDeletions result =
        gateway.service.remove_all("me", {one, absent, two, one, foreign, "x"}, waiting);
    CHECK(result.deleted == std::vector<std::string>{one, two});
    REQUIRE(result.errors.size() == 3);
    CHECK(result.errors[0].id == absent);
    CHECK(result.errors[0].code == ErrorCode::not_found);
    CHECK(result.errors[0].message == "session not found");
    CHECK(result.errors[1].id == foreign);
    CHECK(result.errors[1].code == ErrorCode::not_found);
    CHECK(result.errors[2].code == ErrorCode::invalid_argument);
    CHECK(gateway.service.list("", {}).total == 2);
}

TEST_CASE("a batch that waits names the sessions that were not deleted in time") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string good = gateway.create();
    const std::string bad = gateway.create();
    gateway.instance(good);
    const std::string stuck = gateway.instance(bad);
    world.management.on_remove([stuck](const std::string& id, bool) {
        if (id == stuck) throw Error(ErrorCode::internal, "the guest does not stop");
    });
    auto late = std::async(std::launch::async, [&] {
        return gateway.service.remove_all("me", {good, bad}, waiting);
    });
    REQUIRE(gateway.await_gone(good));
    REQUIRE(gateway.await(bad, terminating));
    gateway.pass(2min);
    const SessionDeletions result = late.get();
    CHECK(result.deleted == std::vector<std::string>{good});
    REQUIRE(result.errors.size() == 1);
    CHECK(result.errors[0].id == bad);
    CHECK(result.errors[0].code == ErrorCode::internal);
}

TEST_CASE("sessions made and deleted in every way at the same time leave nothing behind") {
    SessionWorld world;
    Gateway gateway(world);
    std::atomic<int> at_work{4};
    const auto live = [&](int number) {
        for (int i = 0; i < 15; ++i) {
            const SessionGrant grant = gateway.service.create("me", gateway.request());
            const std::string id = grant.session.id;
            const int way = (number + i) % 5;
            if (way == 1) gateway.service.remove("me", id, forced);
            if (way == 0 || way == 2) gateway.service.remove("me", id, {.force = false, .sync = way == 2});
            if (way < 3) continue;
            test::eventually("the session has an instance",
                             [&] { return !gateway.service.get("", id).container_id.empty(); });
            StreamPeer client = gateway.connect_client(grant);
            StreamPeer instance = gateway.connect_instance(id);
            instance.stream(true);
            if (way == 3) world.management.vanish(gateway.service.get("", id).container_id);
            if (way == 4) instance.stream(false);
            world.management.tell("");
        }
        --at_work;
    };
    std::vector<std::future<void>> threads;
    for (int number = 0; number < 4; ++number)
        threads.push_back(std::async(std::launch::async, live, number));
    CHECK(world.eventually([&] {
        gateway.service.tick();
        return at_work == 0;
    }));
    for (auto& thread : threads) thread.get();
    gateway.service.remove_all("me", all_ids(gateway), waiting);
    CHECK(world.eventually([&] { return world.sqlite.list("stream-sessions/").empty(); }));
    CHECK(world.management.instances() == 0);
    CHECK(world.eventually([&] { return gateway.relay.sessions() == 0; }));  // after the record
}

TEST_CASE("two that delete one session delete its instance once") {
    SessionWorld world;
    Gateway gateway(world);
    const std::string id = gateway.create();
    gateway.instance(id);
    auto other = std::async(std::launch::async,
                            [&] { return code_of([&] { gateway.service.remove("me", id, waiting); }); });
    const auto own = code_of([&] { gateway.service.remove("me", id, waiting); });
    const auto others = other.get();
    CHECK((!own || own == ErrorCode::not_found));
    CHECK((!others || others == ErrorCode::not_found));
    CHECK((!own || !others));
    CHECK(world.management.removals().size() == 1);
}

// Instances that wait, booted, for launches of their application (docs/pool.md).
#include <algorithm>
#include <set>

#include "tests/support/instance_record.h"
#include "tests/unit/services/launch_fixture.h"

using namespace svc;
using namespace svc::test;
using Actions = std::vector<std::string>;

namespace {

struct PoolFixture : LaunchFixture {
    explicit PoolFixture() { add_application({version(0)}); }
    void set_pool(int min, int max) {
        change_application([&](Application& application) { application.pool = {.min = min, .max = max}; });
    }
    void keep() { instances().pools().keep(); }
    std::vector<std::string> pooled() {
        std::vector<std::string> ids;
        for (const auto& instance : records().list())
            if (instance->pooled && instance->status != InstanceStatus::deleted)
                ids.push_back(instance->id.str());
        return ids;
    }
    std::vector<std::string> ready() {
        auto ids = pooled();
        std::erase_if(ids, [&](const auto& id) { return status(id) != InstanceStatus::running; });
        return ids;
    }
    void await_idle() {
        for (const auto& operation : engine().list()) wait(operation);
    }
    // Runs the keeper until nothing is left to do.
    void fill(std::size_t size) {
        eventually("the pool is as large as it is to be", [&] {
            keep();
            await_idle();
            return ready().size() == size && pooled().size() == size;
        });
    }
    std::string claimed(const InstanceCreate& create = of_application()) {
        const Started started = launch(create);
        REQUIRE(started->kind == "instance.claim");
        REQUIRE(wait(started)->err.empty());
        return id_of(started);
    }
    static InstanceCreate with(const std::function<void(InstanceCreate&)>& change) {
        InstanceCreate create = of_application();
        change(create);
        return create;
    }
    std::string kind_of_launch(const InstanceCreate& create) {
        const Started started = launch(create);
        wait(started);
        const std::string kind = started->kind;
        wait(instances().remove(id_of(started), true, PathWord::containers, "test"));
        return kind;
    }
    PoolCounts counts() {
        return instances().pool_pace().counts()[life->applications.get("candy")->id.str()];
    }
};

}  // namespace

TEST_CASE_METHOD(PoolFixture, "a launch claims an instance that waits in the pool of its application") {
    set_pool(2, 2);
    fill(2);
    const auto waiting = ready();
    clock.advance(std::chrono::minutes(1));
    const Started started = launch(with([](InstanceCreate& create) {
        create.tags = {"mine"};
        create.config.delete_protected = true;
    }));
    CHECK(started->requestor == "test");
    REQUIRE(wait(started)->err.empty());
    const auto instance = records().get(id_of(started));
    CHECK(std::ranges::find(waiting, instance->id.str()) != waiting.end());
    CHECK(instance->status == InstanceStatus::running);
    CHECK_FALSE(instance->pooled);
    CHECK(*instance->tags == std::vector<std::string>{"mine"});
    CHECK(instance->config->delete_protected);
    CHECK(instance->launch_operation == started->id.str());
    CHECK(instance->created_at == clock.now());
    CHECK(told(instance->id.str()) ==
          Actions{"created", "scheduled", "started", "running", "claimed", "running"});
    CHECK(ready().size() == 1);
    CHECK(counts().claims == 1);
}

TEST_CASE_METHOD(PoolFixture,
                 "two launches at once get different instances, and one that finds none makes one") {
    set_pool(2, 2);
    fill(2);
    std::vector<std::future<Started>> launches;
    for (int i = 0; i < 3; ++i)
        launches.push_back(std::async(std::launch::async, [this] { return launch(of_application()); }));
    std::set<std::string> ids;
    for (auto& each : launches) {
        const Started started = each.get();
        CHECK(wait(started)->err.empty());
        ids.insert(id_of(started));
    }
    CHECK(ids.size() == 3);
    CHECK(pooled().empty());
    CHECK(counts().claims == 2);
    CHECK(counts().misses == 1);
}

TEST_CASE_METHOD(PoolFixture, "a launch that a pooled instance cannot meet makes its own") {
    set_pool(1, 1);
    fill(1);
    const auto make = [](auto change) { return with(change); };
    for (const InstanceCreate& create :
         {make([](InstanceCreate& c) { c.name = "named"; }),
          make([](InstanceCreate& c) { c.user_data = "x"; }), make([](InstanceCreate& c) { c.cpus = 2; }),
          make([](InstanceCreate& c) { c.memory = 1 << 30; }),
          make([](InstanceCreate& c) { c.services = {{.name = "web", .port = 80, .protocols = {"tcp"}}}; }),
          make([](InstanceCreate& c) { c.config.platform = "webrtc"; }),
          make([](InstanceCreate& c) { c.config.features = "fast"; }),
          make([](InstanceCreate& c) { c.config.devmode = true; }),
          make([](InstanceCreate& c) { c.no_start = true; })})
        CHECK(kind_of_launch(create) == "instance.launch");
    CHECK(ready().size() == 1);
    CHECK(kind_of_launch(of_application()) == "instance.claim");
}

TEST_CASE_METHOD(PoolFixture, "name and user data reach a booted guest where the application does not mind") {
    change_application(
        [](Application& application) { application.pool = {.min = 1, .max = 1, .late_data = true}; });
    fill(1);
    const std::string id = claimed(with([](InstanceCreate& create) {
        create.name = "named";
        create.user_data = "hello";
    }));
    CHECK(records().get("named")->id.str() == id);
    CHECK(*records().get(id)->user_data == "hello");
    fill(1);
    CHECK(kind_of_launch(with([](InstanceCreate& create) {
              create.user_data = R"({"streaming": {"control_url": "wss://10.0.0.1:4000/1.0/sessions/a"}})";
          })) == "instance.launch");
    runtime.before("exec", [] { throw Error(ErrorCode::internal, "no such luck"); });
    const Started untold = launch(with([](InstanceCreate& create) { create.user_data = "hello"; }));
    CHECK(wait(untold)->err == "no such luck");
    CHECK(status(id_of(untold)) == InstanceStatus::error);
}

TEST_CASE_METHOD(PoolFixture, "a name that is taken is refused whatever the pool has") {
    change_application(
        [](Application& application) { application.pool = {.min = 1, .max = 1, .late_data = true}; });
    fill(1);
    const auto named = with([](InstanceCreate& create) { create.name = "named"; });
    claimed(named);
    fill(1);
    CHECK(code_of([&] { launch(named); }) == ErrorCode::conflict);
    CHECK(ready().size() == 1);
}

TEST_CASE_METHOD(PoolFixture,
                 "a pool grows with the launches up to its maximum, and shrinks when they are over") {
    set_pool(1, 3);
    fill(1);
    for (int i = 0; i < 3; ++i) {
        const std::string id = launched(of_application());
        wait(instances().remove(id, true, PathWord::containers, "test"));
    }
    fill(3);
    clock.advance(std::chrono::minutes(11));
    fill(1);
    configure("application.max_pool_size", "0");
    fill(0);
}

TEST_CASE_METHOD(PoolFixture, "a pool follows its application: new version, revoked, no pool, deleted") {
    set_pool(2, 2);
    fill(2);
    const auto before = ready();
    change_application([&](Application& application) { application.versions.push_back(version(1)); });
    fill(2);
    for (const std::string& id : ready()) {
        CHECK(records().get(id)->app_version == 1);
        CHECK(std::ranges::find(before, id) == before.end());
    }
    CHECK(records().get(claimed())->app_version == 1);
    change_application([&](Application& application) { application.versions.back().published = false; });
    fill(2);
    CHECK(records().get(claimed())->app_version == 0);
    change_application([&](Application& application) { application.versions.front().published = false; });
    fill(0);
    change_application([&](Application& application) { application.versions.front().published = true; });
    fill(2);
    change_application([&](Application& application) { application.resources.cpus = 1; });
    fill(2);
    CHECK(records().get(ready().front())->resources.cpus == 1);
    set_pool(0, 0);
    fill(0);
    set_pool(2, 2);
    fill(2);
    life->applications.remove(life->applications.get("candy")->id.str());
    fill(0);
}

TEST_CASE_METHOD(PoolFixture, "launches for a pool that fail are tried again ever more slowly") {
    set_pool(1, 1);
    runtime.before("start", [] { throw Error(ErrorCode::internal, "no such luck"); });
    const auto attempts = [this] {
        return std::ranges::count_if(actions.get(), [](const std::string& action) {
            return action.starts_with("application-pool-failed /1.0/applications/");
        });
    };
    const auto turn = [this](std::chrono::seconds time) {
        clock.advance(time);
        for (int i = 0; i < 3; ++i) {
            keep();
            await_idle();
        }
    };
    turn(std::chrono::seconds(0));
    CHECK(attempts() == 1);
    turn(std::chrono::seconds(9));
    CHECK(attempts() == 1);
    turn(std::chrono::seconds(1));
    CHECK(attempts() == 2);
    turn(std::chrono::seconds(19));
    CHECK(attempts() == 2);
    turn(std::chrono::seconds(1));
    CHECK(attempts() == 3);
    CHECK(pooled().empty());
    runtime.before("start", nullptr);
    turn(std::chrono::seconds(40));
    CHECK(ready().size() == 1);
}

TEST_CASE_METHOD(PoolFixture, "launches for a pool that fail together are one failure") {
    set_pool(4, 4);
    runtime.before("start", [] { throw Error(ErrorCode::internal, "no such luck"); });
    keep();
    await_idle();
    keep();
    await_idle();
    CHECK(pooled().empty());
    runtime.before("start", nullptr);
    clock.advance(std::chrono::seconds(10));
    keep();
    await_idle();
    CHECK(ready().size() == 4);
}

TEST_CASE_METHOD(PoolFixture,
                 "an instance of a pool has the lifetime of the launch that claims it, and none before") {
    instances().start_expiry();
    configure("application.max_pool_size", "2");
    set_pool(2, 2);
    fill(2);
    clock.advance(std::chrono::hours(1000));
    for (const std::string& id : ready()) CHECK_FALSE(records().get(id)->lifetime.is_limited());
    CHECK(ready().size() == 2);
    const std::string expires =
        claimed(with([](InstanceCreate& create) { create.lifetime.expires_after = std::chrono::hours(2); }));
    const std::string idle =
        claimed(with([](InstanceCreate& create) { create.lifetime.idle_after = std::chrono::hours(1); }));
    CHECK(records().get(expires)->lifetime.expires_at == clock.now() + std::chrono::hours(2));
    CHECK(records().get(idle)->lifetime.used_at == clock.now());
    clock.advance(std::chrono::hours(1));
    await_told(idle, "removed");
    CHECK(exists(expires));
    clock.advance(std::chrono::hours(1));
    await_told(expires, "removed");
}

TEST_CASE_METHOD(PoolFixture, "a guest of the pool that ends is replaced") {
    set_pool(1, 1);
    fill(1);
    const std::string id = ready().front();
    simulated.end(id, false, "init was killed by signal 9");
    settle(id);
    CHECK(status(id) == InstanceStatus::error);
    keep();
    await_idle();
    CHECK(pooled().empty());
    clock.advance(std::chrono::seconds(10));
    fill(1);
    CHECK(ready().front() != id);
}

TEST_CASE_METHOD(PoolFixture,
                 "a pool makes room for a launch that finds none, and waits before it takes the room again") {
    set_pool(4, 4);
    fill(4);                           // all 16 CPUs
    const Started started = launch();  // an image's: two CPUs
    REQUIRE(wait(started)->err.empty());
    CHECK(status(id_of(started)) == InstanceStatus::running);
    CHECK(pooled().size() == 3);
    keep();
    await_idle();
    CHECK(pooled().size() == 3);
}

TEST_CASE_METHOD(PoolFixture, "a pool keeps its instances where a launch would find no room without them") {
    set_pool(2, 2);
    fill(2);
    const auto before = ready();
    const Started refused = launch(with([](InstanceCreate& create) { create.cpus = 1000; }));
    CHECK_FALSE(wait(refused)->err.empty());
    CHECK(ready() == before);
}

TEST_CASE_METHOD(PoolFixture, "nobody uses an instance of a pool before a launch has claimed it") {
    set_pool(1, 1);
    fill(1);
    const std::string id = ready().front();
    for (const char* wish : {"paused", "stopped", "restarted"})
        CHECK(message_of([&] {
                  instances().set_desired_status(id, wish, false, PathWord::containers, "test");
              }) == "starting, pausing or stopping a container that is pooled not allowed");
    CHECK(code_of([&] { instances().protect(id, true, PathWord::containers, "test"); }) ==
          ErrorCode::invalid_argument);
    ExecRequest command;
    command.command = {"true"};
    CHECK(code_of([&] { life->exec_service.start(id, command, PathWord::containers, "test", {}); }) ==
          ErrorCode::invalid_argument);
    CHECK(record_of(*records().get(id)).at("pooled") == Json(true));
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK(pooled().empty());
    fill(1);
}

TEST_CASE_METHOD(PoolFixture, "a node that is closed or emptied keeps no pool") {
    set_pool(2, 2);
    fill(2);
    const std::string user = claimed();
    fill(2);
    const auto waiting = ready();
    const auto done = wait(instances().evacuate("node0", EvacuationMode::stop, "test"));
    CHECK(done->err.empty());
    for (const std::string& id : waiting) {
        CHECK(done->metadata.at("instances").at(id) == Json("deleted"));
        CHECK_FALSE(exists(id));
    }
    CHECK(status(user) == InstanceStatus::stopped);
    keep();
    await_idle();
    CHECK(ready().empty());
}

TEST_CASE_METHOD(PoolFixture, "a pool outlives a restart of the service") {
    set_pool(2, 2);
    fill(2);
    const auto before = ready();
    const std::string mine = claimed();
    restart();
    fill(2);
    const auto after = ready();
    CHECK(std::ranges::find(after, mine) == after.end());
    CHECK(std::ranges::count_if(
              before, [&](const auto& id) { return std::ranges::find(after, id) != after.end(); }) == 1);
    for (const auto& operation : engine().list()) CHECK(is_final(operation->status));
}

TEST_CASE_METHOD(PoolFixture, "a claim that a crash interrupts ends in the next life as the same launch") {
    set_pool(2, 2);
    fill(2);
    const auto waiting = ready();
    freezing_store.freeze_after(1);  // the claim is stored, its end is not
    const Started started = launch(of_application());
    eventually("its end waits for the disk", [this] { return freezing_store.is_frozen(); });
    service_clock.on_next([this] { freezing_store.let_go(); });
    engine().stop(std::chrono::hours(1));
    set_life(nullptr);
    freezing_store.thaw();
    const bool booted = GENERATE(false, true);
    if (booted) {
        boot_id = "second-boot";
        for (const std::string& id : waiting) simulated.stop(id, Duration(0));
    }
    begin_life();
    CHECK(wait(started)->err.empty());
    const auto mine = records().get(id_of(started));
    CHECK(mine->status == InstanceStatus::running);
    CHECK_FALSE(mine->pooled);
    if (!booted)
        CHECK(told(mine->id.str()) ==
              Actions{"created", "scheduled", "started", "running", "claimed", "running"});
    CHECK(simulated.inspect(mine->id.str())->state == ContainerState::running);
    CHECK(pooled().size() == 1);
}

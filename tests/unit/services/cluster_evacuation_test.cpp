// Nodes that are emptied on request.
#include "libsvc/services/instances/end/evacuation_run.h"
#include "tests/unit/services/cluster_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct EvacuationFixture : ClusterFixture {
    using ClusterFixture::ClusterFixture;
    Started begin(const std::string& node, EvacuationMode mode) {
        return instances().evacuate(node, mode, "test");
    }
    std::shared_ptr<const Operation> end_of(const Started& started) {
        turn_clock_until("the evacuation has ended", std::chrono::seconds(1),
                         [&] { return is_final(engine().get(started->id.str())->status); });
        return wait(started);
    }
    std::shared_ptr<const Operation> evacuate(const std::string& node, EvacuationMode mode) {
        return end_of(begin(node, mode));
    }
    std::string named_on(const std::string& node, const std::string& name) {
        InstanceCreate create = request();
        create.node = node;
        create.name = name;
        return launched(create);
    }
    // Those whose guest is waited for.
    std::vector<std::string> booting() {
        std::vector<std::string> ids;
        for (const auto& instance : records().list())
            if (instance->status == InstanceStatus::started) ids.push_back(instance->id.str());
        return ids;
    }
    std::string await_successor() {
        eventually("the new one starts", [&] { return booting().size() == 1; });
        return booting().at(0);
    }
    // While a commit does not come back.
    void kill() {
        service_clock.on_next([this] { freezing_store.let_go(); });
        engine().stop(std::chrono::hours(1));
        set_life(nullptr);
        freezing_store.thaw();
        begin_life();
    }
    static std::string outcome(const Operation& operation, const std::string& id) {
        return operation.metadata.at("instances").at(id).as_string();
    }
    void set_open(const std::string& node, bool open) {
        NodePatch patch;
        patch.unschedulable = !open;
        REQUIRE(wait(nodes().patch(node, patch, "test"))->err.empty());
    }
    void protect(const std::string& id) {
        REQUIRE(wait(instances().protect(id, true, PathWord::containers, "test"))->err.empty());
    }
};

}  // namespace

TEST_CASE_METHOD(EvacuationFixture, "an evacuation stops what runs on a node and keeps it closed") {
    const std::string id = launched_on("m2");
    const std::string other = launched_on("m1");
    const auto done = evacuate("m2", EvacuationMode::stop);
    CHECK(done->err.empty());
    CHECK(done->description == "Evacuating node m2");
    CHECK(outcome(*done, id) == "stopped");
    CHECK(done->metadata.at("instances").find(other) == nullptr);
    CHECK(status(id) == InstanceStatus::stopped);
    CHECK(status(other) == InstanceStatus::running);
    CHECK(nodes().get("m2")->unschedulable);
    CHECK(outcome(*evacuate("m2", EvacuationMode::stop), id) == "does not run");
    set_open("m2", true);
    CHECK(wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"))
              ->err.empty());
}

TEST_CASE_METHOD(EvacuationFixture, "an evacuation deletes what it may and names what is left") {
    const std::string id = launched_on("m2");
    const std::string guarded = launched_on("m2");
    protect(guarded);
    const auto done = evacuate("m2", EvacuationMode::remove);
    CHECK(done->err == "1 of 2 containers are left on node m2: " + guarded +
                           ": deleting protected container '" + guarded + "' not allowed");
    CHECK(outcome(*done, id) == "deleted");
    CHECK_FALSE(records().find(id));
    CHECK(status(guarded) == InstanceStatus::running);
}

TEST_CASE_METHOD(EvacuationFixture, "an evacuation launches instances anew on other nodes") {
    InstanceCreate create = request();
    create.node = "m2";
    create.name = "mine";
    create.tags = {"kept"};
    create.user_data = "hello";
    create.lifetime = {std::chrono::hours(2), std::chrono::hours(1)};
    const std::string id = launched(create);
    const Lifetime lifetime = records().get(id)->lifetime;
    const auto done = evacuate("m2", EvacuationMode::relaunch);
    REQUIRE(done->err == "");
    CHECK_FALSE(records().find(id));
    CHECK_FALSE(has_container(id));
    const auto successor = records().get("mine");
    CHECK(outcome(*done, id) == "launched anew as " + successor->id.str());
    CHECK(successor->status == InstanceStatus::running);
    CHECK(*successor->node != "m2");
    CHECK(*successor->tags == std::vector<std::string>{"kept"});
    CHECK(*successor->user_data == "hello");
    CHECK(successor->lifetime == lifetime);
}

TEST_CASE_METHOD(EvacuationFixture, "an instance for which there is no other room stays") {
    const std::string id = launched_on("m2");
    for (const char* node : {"m1", "m3"}) set_open(node, false);
    const auto done = evacuate("m2", EvacuationMode::relaunch);
    CHECK_THAT(done->err, Catch::Contains("No suitable node"));
    CHECK(status(id) == InstanceStatus::running);
    CHECK(records().list().size() == 1);
}

TEST_CASE_METHOD(EvacuationFixture, "the instances of an offline node are launched anew elsewhere") {
    const std::string id = launched_on("m2");
    switch_off("m2");
    await_status(id, InstanceStatus::error);
    settle(id);
    REQUIRE(evacuate("m2", EvacuationMode::relaunch)->err.empty());
    REQUIRE(records().list().size() == 1);
    CHECK(records().list()[0]->status == InstanceStatus::running);
    CHECK(*records().list()[0]->node != "m2");
    CHECK(has_container(id));
    machines.set_online("m2", true);
    await_node("m2", NodeStatus::evacuated);
    eventually("the old container is gone", [&] { return !has_container(id); });
}

namespace {

WorldOptions ten_machines() {
    WorldOptions options;
    for (int i = 1; i <= 10; ++i) options.nodes.push_back("m" + std::to_string(i));
    return options;
}

// More nodes than the engine has workers.
struct ManyFixture : EvacuationFixture {
    ManyFixture() : EvacuationFixture(ten_machines()) {}
    std::vector<Started> for_each_node(const std::function<Started(const std::string&)>& start) {
        std::vector<Started> all;
        for (const std::string& node : options.nodes) all.push_back(start(node));
        return all;
    }
    void launch_on_all() {
        for (const std::string& node : options.nodes) launched_on(node);
    }
};

// The service is killed after each of the commits of an evacuation in turn.
struct KilledFixture : EvacuationFixture {
    std::string id = named_on("m2", "mine");
    std::string plain = launched_on("m2");
    std::string other = launched_on("m1");

    bool is_over(const Started& started) { return is_final(engine().get(started->id.str())->status); }
    // What a killed service had no time to hear its guests tell again.
    std::shared_ptr<const Operation> resumed_end_of(const Started& started) {
        turn_clock_until("the evacuation has ended", std::chrono::milliseconds(1), [&] {
            for (const std::string& one : booting()) try_report(one);
            return is_over(started);
        });
        return wait(started);
    }
    // False: it had fewer commits.
    bool evacuate_and_kill(const std::string& node, EvacuationMode mode, std::size_t commits,
                           Started& started) {
        started = begin(node, mode);
        freezing_store.freeze_after(commits);
        turn_clock_until("it is over or cut off", std::chrono::milliseconds(1),
                         [&] { return freezing_store.is_frozen() || is_over(started); });
        const bool killed = freezing_store.is_frozen();
        kill();
        return killed;
    }
};

}  // namespace

TEST_CASE_METHOD(ManyFixture, "more evacuations than the engine has workers end all the same") {
    launch_on_all();
    guests_report = false;
    std::vector<Started> all;
    for (int i = 0; i < 8; ++i) set_open(options.nodes.at(i), false);
    for (int i = 0; i < 8; ++i) all.push_back(begin(options.nodes.at(i), EvacuationMode::relaunch));
    eventually("all new ones start", [&] { return booting().size() == 8; });
    for (const std::string& id : booting()) report(id, "running");
    for (const Started& started : all) CHECK(end_of(started)->err.empty());
    CHECK(records().list().size() == 10);
}

TEST_CASE_METHOD(ManyFixture, "more forced removals of nodes than the engine has workers end all the same") {
    launch_on_all();
    NodeRemoval forced;
    forced.force = true;
    const auto all =
        for_each_node([&](const std::string& node) { return nodes().remove(node, forced, "test"); });
    for (const Started& started : all) CHECK(wait(started)->err.empty());
    CHECK(records().list().empty());
    CHECK(nodes().list().empty());
}

TEST_CASE_METHOD(KilledFixture, "an evacuation that launches anew goes on wherever it is cut off, once") {
    bool killed = true;
    for (std::size_t commits = 0; killed; ++commits) {
        INFO("killed after " << commits << " commits");
        const std::string node = node_of(id);
        for (const char* name : {"m1", "m2", "m3"}) set_open(name, true);
        Started started;
        killed = evacuate_and_kill(node, EvacuationMode::relaunch, commits, started);
        const auto done = resumed_end_of(started);
        REQUIRE(done->err == "");
        REQUIRE(records().list().size() == 3);
        CHECK_FALSE(records().find(id));
        const auto successor = records().find("mine");
        REQUIRE(successor);
        CHECK(outcome(*done, id) == "launched anew as " + successor->id.str());
        for (const auto& instance : records().list()) {
            CHECK(instance->status == InstanceStatus::running);
            CHECK(*instance->node != node);
        }
        CHECK(simulated.list().size() == 3);
        id = successor->id.str();
    }
}

TEST_CASE_METHOD(KilledFixture, "an evacuation that deletes goes on wherever it is cut off") {
    bool killed = true;
    for (std::size_t commits = 0; killed; ++commits) {
        INFO("killed after " << commits << " commits");
        Started started;
        killed = evacuate_and_kill("m2", EvacuationMode::remove, commits, started);
        const auto done = resumed_end_of(started);
        REQUIRE(done->err == "");
        CHECK(outcome(*done, id) == "deleted");
        CHECK(outcome(*done, plain) == "deleted");
        REQUIRE(records().list().size() == 1);
        set_open("m2", true);
        id = named_on("m2", "mine");
        plain = launched_on("m2");
    }
}

TEST_CASE_METHOD(KilledFixture, "an evacuation that stops goes on wherever it is cut off") {
    bool killed = true;
    for (std::size_t commits = 0; killed; ++commits) {
        INFO("killed after " << commits << " commits");
        Started started;
        killed = evacuate_and_kill("m2", EvacuationMode::stop, commits, started);
        const auto done = resumed_end_of(started);
        REQUIRE(done->err == "");
        CHECK(outcome(*done, id) == "stopped");
        CHECK(status(plain) == InstanceStatus::stopped);
        CHECK(status(other) == InstanceStatus::running);
        set_open("m2", true);
        for (const std::string& one : {id, plain})
            REQUIRE(wait(instances().set_desired_status(one, "running", false, PathWord::containers, "test"))
                        ->err.empty());
    }
}

TEST_CASE_METHOD(EvacuationFixture, "an evacuation that is cancelled leaves what it has not moved") {
    const std::string id = named_on("m2", "mine");
    guests_report = false;
    const Started started = begin("m2", EvacuationMode::relaunch);
    const std::string successor = await_successor();
    SECTION("while the service runs") {
        engine().cancel(started->id.str());
        CHECK(wait(started)->status == OperationStatus::cancelled);
    }
    SECTION("before the service is killed") {
        freezing_store.freeze_after(1);  // the request is stored, nothing is undone
        engine().cancel(started->id.str());
        eventually("the store is frozen", [&] { return freezing_store.is_frozen(); });
        kill();
        CHECK(end_of(started)->status == OperationStatus::cancelled);
    }
    eventually("the new one is gone", [&] { return records().list().size() == 1; });
    CHECK(records().get("mine")->id.str() == id);
    CHECK(status(id) == InstanceStatus::running);
    CHECK(nodes().get("m2")->unschedulable);
}

TEST_CASE_METHOD(EvacuationFixture, "what could not be replaced is not there twice") {
    const std::string id = named_on("m2", "mine");
    guests_report = false;
    const Started started = begin("m2", EvacuationMode::relaunch);
    const std::string successor = await_successor();
    protect(id);
    report(successor, "running");
    CHECK_THAT(end_of(started)->err, Catch::Contains("deleting protected container 'mine' not allowed"));
    eventually("the new one is gone", [&] { return records().list().size() == 1; });
    CHECK(status(id) == InstanceStatus::running);
}

TEST_CASE_METHOD(EvacuationFixture, "a forced removal of a node waits until the node is evacuated") {
    const std::string id = named_on("m2", "mine");
    guests_report = false;
    const Started started = begin("m2", EvacuationMode::relaunch);
    const std::string successor = await_successor();
    NodeRemoval forced;
    forced.force = true;
    const Started removal = nodes().remove("m2", forced, "test");
    report(successor, "running");
    CHECK(end_of(started)->err.empty());
    CHECK(wait(removal)->err.empty());
    CHECK(status("mine") == InstanceStatus::running);
}

TEST_CASE_METHOD(EvacuationFixture, "an evacuation takes a stop that was faster as its own") {
    const std::string id = launched_on("m2");
    ThreadPool thread("steps", 1, 10);
    Timer timer(service_clock, "evacuation");
    EvacuationCalls calls;
    calls.stop = [&](const Instance& instance, const std::string& requestor) {
        const auto stop = [&] {
            return instances().set_desired_status(instance.id.str(), "stopped", false, PathWord::containers,
                                                  requestor);
        };
        wait(stop());
        return stop();
    };
    const EvacuationParts parts{records(), nodes(), engine(), timer, calls};
    const EvacuationPlan plan{EvacuationMode::stop, {{.instance = id}}};
    const auto end = [](const Json& outcomes) {
        return OperationResult{.metadata = Json::object({{"instances", outcomes}})};
    };
    const auto run = [&](OperationContext& context) {
        std::make_shared<EvacuationRun>(parts, thread, context, plan, end)->begin();
        return OperationResult{};
    };
    engine().handle("test.evacuate", {run, nullptr, false});
    OperationSpec spec;
    spec.kind = "test.evacuate";
    spec.description = "Evacuating";
    const auto done = wait(engine().start(std::move(spec), {}));
    CHECK(done->err == "");
    CHECK(outcome(*done, id) == "stopped");
    thread.stop();
}

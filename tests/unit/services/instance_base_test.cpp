// Containers in which applications are bootstrapped.
#include <fstream>

#include "libsvc/model/cluster/task.h"
#include "tests/support/eventually.h"
#include "tests/unit/services/launch_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

using Actions = std::vector<std::string>;

struct BaseFixture : LaunchFixture {
    const InstanceId id{ids.object_id()};
    Watched<std::vector<std::string>> finished;  // "" when well

    BaseLaunch base() {
        const auto image = images().get("base");
        BaseLaunch launch;
        launch.id = id;
        launch.app_id = "c5pvhr3fbn40000000c0";
        launch.app_name = "candy";
        launch.image_id = image->id.str();
        launch.layers = {image->versions[0].layer()};
        PackageRef package = package_of("candy", {"install", "post-stop"}, true);
        package.fetch = true;
        launch.packages = {package};
        launch.app.change([](AppSetup& app) { app.name = "candy"; });
        launch.resources = *instance_type_resources("a2.3");
        launch.architecture = "x86_64";
        launch.requestor = "test";
        return launch;
    }
    void finish() {
        instances().base().finish(id, [this](const std::optional<Error>& failure) {
            finished.change([&](auto& all) { all.push_back(failure ? failure->what() : ""); });
        });
    }
    std::string outcome(std::size_t which = 1) {
        return finished.await([&](const auto& all) { return all.size() >= which; })[which - 1];
    }
    void begin() {  // boots until the test says otherwise
        guests_report = false;
        instances().base().launch(base());
        await_told(id.str(), "started");
    }
    void come_up() {
        instances().base().launch(base());
        await_told(id.str(), "running");
        settle(id.str());
    }
    void remove() {
        Watched<bool> gone;
        instances().base().remove(id, [&] { gone.change([](bool& value) { value = true; }); });
        gone.await([](bool value) { return value; });
    }
    void check_failed(const std::string& reason) {
        const auto instance = records().get(id.str());
        CHECK(instance->status == InstanceStatus::error);
        CHECK(instance->error_message == reason);
        CHECK(instance->layers.empty());
        CHECK(instance->address.empty());
        CHECK_FALSE(simulated.inspect(id.str()));
        CHECK(task_of(*instance).at("status").as_string() == "error");
        for (int i = 0; i < 8; ++i) nodes().reserve(instance_of("i" + std::to_string(i)));  // all is free
    }
    static Instance instance_of(const std::string& name) {
        Instance made;
        made.id = InstanceId(name);
        made.resources = *instance_type_resources("a2.3");
        return made;
    }
};

}  // namespace

TEST_CASE_METHOD(BaseFixture, "a bootstrap that goes well ends stopped, its clean-up run") {
    begin();
    finish();
    CHECK(finished.get().empty());
    const AgentSession session = last_session();
    CHECK(session.instance_type == "base");
    CHECK(session.security_updates);
    CHECK(runtime.last_spec().boot_by_agent);
    CHECK(instances().artifacts(id.str()).size() == 1);
    InstanceReport up;
    up.status = "running";
    up.notes = {"no package manager"};
    report(id.str(), id.str(), up);
    CHECK(outcome().empty());
    const auto instance = records().get(id.str());
    CHECK(instance->status == InstanceStatus::stopped);
    CHECK(instance->type == InstanceType::base);
    CHECK(instance->notes == Actions{"no package manager"});
    CHECK(task_of(*instance).at("status").as_string() == "completed");
    CHECK(runtime.commands().size() == 1);
    CHECK(told(id.str()) == Actions{"created", "scheduled", "started", "running", "stopped"});
    finish();
    CHECK(outcome(2).empty());
    remove();
    CHECK_FALSE(exists(id.str()));
    remove();
    finish();
    CHECK(outcome(3) == "container was deleted");
}

TEST_CASE_METHOD(BaseFixture, "security updates are left out where they are switched off") {
    configure("container.security_updates", "false");
    come_up();
    CHECK_FALSE(last_session().security_updates);
}

TEST_CASE_METHOD(BaseFixture, "asking twice makes one container") {
    come_up();
    instances().base().launch(base());
    CHECK(records().list().size() == 1);
    const std::string layer = base().layers[0];
    finish();
    CHECK(outcome().empty());
    wait(images().remove("base", true, "test"));
    CHECK(simulated.layers().contains(layer));
    remove();
    CHECK_FALSE(simulated.layers().contains(layer));  // it was held once
}

TEST_CASE_METHOD(BaseFixture, "nobody but its bootstrap starts, pauses, stops or expires it") {
    come_up();
    for (const char* wanted : {"running", "paused", "stopped"})
        CHECK(code_of([&] {
                  instances().set_desired_status(id.str(), wanted, false, PathWord::containers, "t");
              }) == ErrorCode::invalid_argument);
    finish();
    CHECK(outcome().empty());
    clock.advance(std::chrono::hours(1));
    instances().reconciler().expire();
    instances().reconciler().reconcile();
    settle(id.str());
    CHECK(status(id.str()) == InstanceStatus::stopped);
}

TEST_CASE_METHOD(BaseFixture, "a bootstrap that fails leaves its record and logs alone") {
    const auto log = directory.path() / "hooks.log";
    std::ofstream(log) << "install failed";
    runtime.add_log({"system.log", log});
    begin();
    finish();
    InstanceReport failed;
    failed.status = "error";
    failed.error_code = 2;
    failed.error_message = "hook install of candy failed";
    failed.notes = {"updates skipped"};
    report(id.str(), id.str(), failed);
    CHECK(outcome() == "hook install of candy failed");
    CHECK(read_file(instances().log(id.str(), "system.log")) == "install failed");
    CHECK(records().get(id.str())->notes == Actions{"updates skipped"});
    CHECK(runtime.commands().empty());
    check_failed("hook install of candy failed");
    finish();
    CHECK(outcome(2) == "hook install of candy failed");
}

TEST_CASE_METHOD(BaseFixture, "a failed clean-up fails the bootstrap") {
    come_up();
    after_guest.with([](auto& current) { current = [](const std::string&) { return 2; }; });
    finish();
    CHECK(outcome() == "post-stop failed: exit status 2");
    check_failed("post-stop failed: exit status 2");
}

TEST_CASE_METHOD(BaseFixture, "a guest that dies on the way fails the bootstrap") {
    SECTION("while it boots") {
        begin();
    }
    SECTION("when it is up") {
        come_up();
    }
    simulated.end(id.str(), false, "init exited with status 1");
    await_told(id.str(), "failed");
    settle(id.str());
    finish();
    CHECK(outcome() == "init exited with status 1");
    check_failed("init exited with status 1");
}

TEST_CASE_METHOD(BaseFixture, "what finds no node stays as a record too") {
    BaseLaunch launch = base();
    launch.node_selector = {"nowhere"};
    instances().base().launch(launch);
    finish();
    CHECK_THAT(outcome(), Catch::StartsWith("No suitable node"));
    CHECK(status(id.str()) == InstanceStatus::error);
    remove();
    CHECK_FALSE(exists(id.str()));
}

TEST_CASE_METHOD(BaseFixture, "the whole bootstrap has its time") {
    SECTION("a guest that never comes up") {
        begin();
        finish();
        const std::string operation = records().get(id.str())->launch_operation;
        turn_clock_until("the bootstrap has timed out", std::chrono::minutes(1),
                         [&] { return is_final(engine().get(operation)->status); });
    }
    SECTION("one that is up late") {
        come_up();
        clock.advance(std::chrono::minutes(15));
        finish();
    }
    CHECK(outcome() == "bootstrap did not finish within 15m");
    check_failed("bootstrap did not finish within 15m");
}

TEST_CASE_METHOD(BaseFixture, "a date that is set during a bootstrap takes none of its time") {
    come_up();
    clock.step(std::chrono::hours(1));
    finish();
    CHECK(outcome().empty());
}

TEST_CASE_METHOD(BaseFixture, "deleting the container cancels its bootstrap") {
    SECTION("while it boots") {
        begin();
    }
    SECTION("when it is up") {
        come_up();
    }
    SECTION("while it is cleaned up") {
        come_up();
        Gate gate;
        runtime.before("run_once", [&] { gate.pass(); });
        finish();
        gate.await();
        const auto deletion = instances().remove(id.str(), false, PathWord::containers, "test");
        gate.open();
        CHECK(wait(deletion)->err.empty());
        CHECK(outcome() == "container was deleted");
        return;
    }
    if (status(id.str()) == InstanceStatus::started) finish();
    CHECK(wait(instances().remove(id.str(), false, PathWord::containers, "test"))->err.empty());
    if (finished.get().empty()) finish();
    CHECK(outcome() == "container was deleted");
    CHECK_FALSE(exists(id.str()));
}

TEST_CASE_METHOD(BaseFixture, "a bootstrap goes on in the next life, wherever it was") {
    SECTION("only the records were stored") {
        Gate gate;
        runtime.before("create", [&] {
            gate.pass();
            throw Error(ErrorCode::cancelled, "the daemon stops");
        });
        instances().base().launch(base());
        gate.await();
        const auto stopped = stop_engine();
        gate.open();
        stopped.wait();
        runtime.before("create", nullptr);
    }
    SECTION("booting") {
        begin();
        finish();
        end_life();
        simulated.stop(id.str(), Duration::zero());
        guests_report = true;
    }
    SECTION("up") {
        come_up();
        end_life();
    }
    SECTION("stopped") {
        come_up();
        finish();
        outcome();
        end_life();
    }
    restart();
    instances().base().launch(base());
    finish();
    CHECK(finished.await([](const auto& all) { return !all.empty(); }).back().empty());
    CHECK(status(id.str()) == InstanceStatus::stopped);
    CHECK(runtime.commands().size() == 1);
    remove();
}

TEST_CASE_METHOD(BaseFixture, "a failed bootstrap holds nothing in the next life either") {
    begin();
    report(id.str(), "error", "broken");
    launch_of(id.str());
    restart();
    instances().reconciler().reconcile();
    finish();
    CHECK(outcome() == "broken");
    check_failed("broken");
}

TEST_CASE_METHOD(BaseFixture, "an unfinished start that nobody takes up is a failure") {
    begin();
    end_life();
    for (const auto& entry : sqlite.list("operations/")) sqlite.commit(Batch().remove(entry.key));
    restart();
    SECTION("found by the reconciler") {
        instances().reconciler().reconcile();
        await_told(id.str(), "failed");
        settle(id.str());
    }
    SECTION("found when it is to be finished") {
        finish();
        CHECK(outcome() == "launch was interrupted");
    }
    check_failed("launch was interrupted");
}

TEST_CASE_METHOD(BaseFixture, "what a failed bootstrap could not free is freed later") {
    come_up();
    runtime.fail("remove", "device is busy");
    after_guest.with([](auto& current) { current = [](const std::string&) { return 2; }; });
    finish();
    outcome();
    CHECK(simulated.inspect(id.str()));
    runtime.before("remove", nullptr);
    instances().reconciler().reconcile();
    settle(id.str());
    check_failed("post-stop failed: exit status 2");
}

TEST_CASE_METHOD(BaseFixture, "a removal that fails is tried again") {
    come_up();
    runtime.fail("remove", "device is busy");
    Watched<bool> gone;
    instances().base().remove(id, [&] { gone.change([](bool& value) { value = true; }); });
    await_told(id.str(), "failed");
    settle(id.str());
    runtime.before("remove", nullptr);
    turn_clock_until("the container is removed", std::chrono::seconds(1), [&] { return gone.get(); });
    CHECK_FALSE(exists(id.str()));
}

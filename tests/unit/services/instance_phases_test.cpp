// The end hooks of an instance, and stops that meet a start.
#include <fstream>

#include "tests/support/eventually.h"
#include "tests/unit/services/launch_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

using Actions = std::vector<std::string>;
using Commands = std::vector<std::vector<std::string>>;

Commands after(const std::string& exit_code) {
    return {{"/var/lib/svc-agent/bin/svc-agent", "--after", "--exit-code", exit_code}};
}

struct HookFixture : LaunchFixture {
    HookFixture() { add_application({version(0, {package_of("candy", {"post-stop"}, true)})}); }
    void after(std::function<int(const std::string&)> answer) {
        after_guest.with([&](auto& current) { current = std::move(answer); });
    }
    std::shared_ptr<const Operation> stopping(const std::string& id) {
        return wait(instances().set_desired_status(id, "stopped", false, PathWord::containers, "test"));
    }
};

}  // namespace

TEST_CASE_METHOD(HookFixture, "hooks run after a guest that was stopped, once") {
    const std::string id = launched(of_application());
    std::atomic<bool> ran_stopped = false;
    after([&](const std::string& of) {
        ran_stopped = simulated.inspect(of)->state == ContainerState::stopped;
        return 0;
    });
    CHECK(stopping(id)->err.empty());
    CHECK(ran_stopped);
    CHECK(runtime.commands() == ::after("0"));
    CHECK(status(id) == InstanceStatus::stopped);
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK(runtime.commands().size() == 1);
}

TEST_CASE_METHOD(HookFixture, "a forced deletion does not wait for hooks that a stop has yet to begin") {
    const std::string id = launched(of_application());
    Gate gate;
    runtime.before("stop", [&] { gate.pass(); });
    runtime.hold_until_stopped(true);
    const auto stop = instances().set_desired_status(id, "stopped", false, PathWord::containers, "test");
    gate.await();
    const auto deletion = instances().remove(id, true, PathWord::containers, "test");
    gate.open();
    CHECK(wait(deletion)->err.empty());
    CHECK_FALSE(exists(id));
    CHECK(is_final(wait(stop)->status));
}

TEST_CASE_METHOD(HookFixture, "hooks run after a guest that ended by itself, with its exit code") {
    const std::string well = launched(of_application());
    simulated.end(well, true, "");
    await_told(well, "stopped");
    settle(well);
    CHECK(runtime.commands() == ::after("0"));
    const std::string killed = launched(of_application());
    simulated.end(killed, false, "init was killed by signal 9 (out of memory, 3 processes)");
    await_told(killed, "failed");
    settle(killed);
    CHECK(runtime.commands().back() == ::after("137")[0]);
    const std::string failed = launched(of_application());
    simulated.end(failed, false, "init exited with status 3");
    await_told(failed, "failed");
    settle(failed);
    CHECK(runtime.commands().back() == ::after("3")[0]);
    CHECK(records().get(failed)->error_message == "init exited with status 3");
}

TEST_CASE_METHOD(HookFixture, "hooks run before a deletion, not before one by force") {
    wait(instances().remove(launched(of_application()), false, PathWord::containers, "test"));
    CHECK(runtime.commands().size() == 1);
    wait(instances().remove(launched(of_application()), true, PathWord::containers, "test"));
    CHECK(runtime.commands().size() == 1);
}

TEST_CASE_METHOD(HookFixture, "hooks do not run after a start that failed") {
    const std::string id = booting(of_application());
    report(id, "error", "pre-start hook failed");
    CHECK(launch_of(id)->err == "pre-start hook failed");
    CHECK(runtime.commands().empty());
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(HookFixture, "instances without such hooks end without them") {
    stop(launched());
    CHECK(runtime.commands().empty());
}

TEST_CASE_METHOD(HookFixture, "a failed hook makes an error with its status, or with what the agent says") {
    const std::string silent = launched(of_application());
    after([](const std::string&) { return 4; });
    CHECK(stopping(silent)->err == "post-stop failed: exit status 4");
    CHECK(records().get(silent)->error_message == "post-stop failed: exit status 4");
    CHECK(status(silent) == InstanceStatus::error);
    CHECK(told(silent).back() == "failed");
    const std::string telling = launched(of_application());
    after([this](const std::string& of) {
        report(of, "error", "hook post-stop of candy failed");
        return 1;
    });
    CHECK(stopping(telling)->err == "hook post-stop of candy failed");
    CHECK(records().get(telling)->error_message == "hook post-stop of candy failed");
    CHECK(runtime.commands().size() == 2);
}

TEST_CASE_METHOD(HookFixture, "hooks that take too long are an error") {
    const std::string id = launched(of_application());
    runtime.before("run_once", [] { throw Error(ErrorCode::unavailable, "svc-agent timed out"); });
    CHECK(stopping(id)->err == "post-stop failed: svc-agent timed out");
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(HookFixture, "a guest that failed keeps its own reason, whatever its hooks do") {
    const std::string id = launched(of_application());
    after([](const std::string&) { return 1; });
    report(id, "error", "watchdog");
    await_told(id, "failed");
    settle(id);
    CHECK(records().get(id)->error_message == "watchdog");
    CHECK(runtime.commands() == ::after("1"));
}

TEST_CASE_METHOD(HookFixture, "a deletion whose hooks fail can be repeated") {
    const std::string id = launched(of_application());
    after([](const std::string&) { return 1; });
    const auto failed = wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK(failed->err == "post-stop failed: exit status 1");
    CHECK(records().get(id)->error_message == "deletion failed: post-stop failed: exit status 1");
    CHECK(records().get(id)->address.empty());
    CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->err.empty());
    CHECK(runtime.commands().size() == 1);
}

TEST_CASE_METHOD(HookFixture, "hooks that hang hold no worker") {
    std::vector<Started> stops;
    Gate gate;
    std::vector<std::string> all;
    for (int i = 0; i < 4; ++i) all.push_back(launched(of_application()));  // the engine has four
    runtime.before("run_once", [&] { gate.pass(); });
    for (const std::string& id : all)
        stops.push_back(instances().set_desired_status(id, "stopped", false, PathWord::containers, "test"));
    InstanceCreate small = request();
    small.cpus = 1;
    NodePatch more;
    more.cpu_allocation_rate = 8;
    CHECK(wait(nodes().patch("node0", more, "test"))->err.empty());
    CHECK_NOTHROW(launched(small));
    gate.open();
    for (const Started& stop : stops) CHECK(wait(stop)->err.empty());
}

TEST_CASE_METHOD(HookFixture, "a deletion by force does not wait for hooks") {
    const std::string id = launched(of_application());
    Gate gate;
    runtime.before("run_once", [&] { gate.pass(); });
    const auto stop = instances().set_desired_status(id, "stopped", false, PathWord::containers, "test");
    gate.await();
    const auto deletion = instances().remove(id, true, PathWord::containers, "test");
    gate.open();  // into the simulation, which sees that it was stopped
    CHECK(wait(deletion)->err.empty());
    CHECK(wait(stop)->status == OperationStatus::failure);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(HookFixture, "hooks that a stop of the daemon cut off run again in its next life") {
    const std::string id = launched(of_application());
    Gate gate;
    runtime.before("run_once", [&] { gate.pass(); });
    const auto operation = instances().set_desired_status(id, "stopped", false, PathWord::containers, "test");
    gate.await();
    const auto stopped = stop_engine();
    runtime.before("run_once", nullptr);
    runtime.hold_until_stopped(true);  // which the hooks are some time after the engine takes no more
    gate.open();
    stopped.wait();
    runtime.hold_until_stopped(false);
    CHECK(status(id) == InstanceStatus::running);
    restart();
    CHECK(engine().wait(operation->id.str(), std::nullopt)->err.empty());
    CHECK(status(id) == InstanceStatus::stopped);
    CHECK(runtime.commands().size() == 2);
}

TEST_CASE_METHOD(HookFixture, "logs are those after the hooks, sources of one name in one") {
    const auto agent = directory.path() / "agent.log";
    const auto hooks = directory.path() / "hooks.log";
    std::ofstream(agent) << "agent\n";
    runtime.add_log({"system.log", agent});
    runtime.add_log({"system.log", hooks});
    const std::string id = launched(of_application());
    after([&](const std::string&) {
        std::ofstream(hooks) << "hook\n";
        return 1;
    });
    stopping(id);
    CHECK(records().get(id)->stored_logs.size() == 1);
    CHECK(read_file(instances().log(id, "system.log")) == "agent\nhook\n");
}

TEST_CASE_METHOD(HookFixture, "an instance that still boots can be stopped") {
    const std::string id = booting(of_application());
    const auto stopped = stopping(id);
    CHECK(stopped->err.empty());
    CHECK(launch_of(id)->status == OperationStatus::cancelled);
    CHECK(status(id) == InstanceStatus::stopped);
    CHECK(records().get(id)->address.empty());
    CHECK(simulated.inspect(id)->state == ContainerState::stopped);
    CHECK(told(id) == Actions{"created", "scheduled", "started", "stopped"});
    CHECK(runtime.commands().empty());  // it was never up
    clock.advance(std::chrono::hours(1));
    instances().reconciler().expire();
    CHECK(exists(id));
}

TEST_CASE_METHOD(HookFixture, "an instance that starts again can be stopped, also across a restart") {
    const std::string id = launched();
    stop(id);
    guests_report = false;
    const auto start = instances().set_desired_status(id, "running", false, PathWord::containers, "test");
    eventually("the instance is started", [&] { return status(id) == InstanceStatus::started; });
    SECTION("at once") {
        CHECK(stopping(id)->err.empty());
        CHECK(wait(start)->err == "container is being stopped");
    }
    SECTION("when the daemon dies before it is heard") {
        end_life();
        Operation operation;
        operation.id = OperationId(ids.uuid());
        operation.kind = "instance.stop";
        operation.created_at = clock.now() + std::chrono::seconds(1);
        operation.claims = {"instances/" + id};
        operation.arguments = Json::object({{"instance", id}});
        Instance stored = *Instances(store).get(id);
        stored.stop_requested = true;
        sqlite.commit(Batch()
                          .put("instances/" + id, instance_to_store(stored).dump())
                          .put("operations/" + operation.id.str(), operation_to_store(operation).dump()));
        restart();
        CHECK(engine().wait(operation.id.str(), std::nullopt)->err.empty());
    }
    CHECK(status(id) == InstanceStatus::stopped);
}

TEST_CASE_METHOD(HookFixture, "a stop that fails is as if it had not been asked for") {
    const std::string id = launched();
    runtime.fail("stop", "it hangs");
    CHECK(stopping(id)->err == "it hangs");
    CHECK(status(id) == InstanceStatus::running);
    CHECK_FALSE(records().get(id)->stop_requested);
    runtime.before("stop", nullptr);
    CHECK(stopping(id)->err.empty());
}

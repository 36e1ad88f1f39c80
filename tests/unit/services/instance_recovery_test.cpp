// Instances after a restart of the daemon.
#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;
using Actions = std::vector<std::string>;

namespace {

struct RecoveryFixture : InstanceFixture {
    // Returns when the report of a guest that boots is waited for again.
    void begin_life_of(const std::string& id) {
        Watched<bool> starts;
        runtime.before("start", [&] { starts.change([](bool& value) { value = true; }); });
        begin_life();
        starts.await([](bool value) { return value; });
        runtime.before("start", nullptr);
        REQUIRE(status(id) == InstanceStatus::started);
    }
};

}  // namespace

TEST_CASE_METHOD(InstanceFixture, "a launch goes on in the next life of the daemon") {
    const std::string id = booting();
    restart();
    await_told(id, "started");
    while (code_of([&] { report(id, "running"); }) ==
           ErrorCode::unavailable) {  // until it is waited for again
    }
    CHECK(status(id) == InstanceStatus::running);
    CHECK(launch_of(id)->status == OperationStatus::success);
    CHECK(records().get(id)->address == "10.0.0.2");
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "what a killed daemon had no time to tell is told by the next one") {
    const std::string running = launched();
    const std::string gone = launched();
    end_life();
    Instance changed = *Instances(store).get(running);
    changed.status = InstanceStatus::stopped;
    sqlite.commit(
        Batch().put("instances/" + running, instance_to_store(changed).dump()).remove("instances/" + gone));
    restart();
    await_told(running, "stopped");
    await_told(gone, "removed");
    CHECK(told(running) == Actions{"created", "scheduled", "started", "running", "stopped"});
    CHECK(told(gone) == Actions{"created", "scheduled", "started", "running", "removed"});
    restart();
    CHECK(told(running).size() == 5);
    CHECK(told(gone).size() == 5);
}

TEST_CASE_METHOD(InstanceFixture, "a guest has no more time to boot because the daemon was restarted") {
    const std::string id = booting();
    const std::string operation = records().get(id)->launch_operation;
    end_life();
    clock.advance(std::chrono::minutes(15));
    restart();
    CHECK(engine().wait(operation, std::nullopt)->err == "instance did not report within 15m");
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(RecoveryFixture,
                 "a guest has the time to boot that its limit says, whatever the date is set to") {
    const auto hour = GENERATE(std::chrono::hours(1), std::chrono::hours(-1));
    const std::string id = booting();
    const std::string operation = records().get(id)->launch_operation;
    end_life();
    clock.advance(std::chrono::minutes(10));
    clock.step(hour);
    begin_life_of(id);
    clock.advance(std::chrono::minutes(4));
    SECTION("it comes up in time") {
        report(id, "running");
        CHECK(engine().wait(operation, std::nullopt)->err.empty());
    }
    SECTION("it is late") {
        clock.advance(std::chrono::minutes(1));
        CHECK(engine().wait(operation, std::nullopt)->err == "instance did not report within 15m");
    }
}

TEST_CASE_METHOD(InstanceFixture, "a date that is set between a request and its start changes nothing") {
    Gate gate;
    runtime.before("create", [&] { gate.pass(); });
    const Started started = launch();
    gate.await();
    clock.step(std::chrono::hours(1));
    gate.open();
    CHECK(wait(started)->err.empty());
    CHECK(status(id_of(started)) == InstanceStatus::running);
}

TEST_CASE_METHOD(RecoveryFixture, "the time to boot begins anew when the machine was booted") {
    const std::string id = booting();
    const std::string operation = records().get(id)->launch_operation;
    end_life();
    boot_id = "second-boot";
    clock.advance(std::chrono::hours(1));
    begin_life_of(id);
    SECTION("it is not late") {
        clock.advance(std::chrono::minutes(14));
        report(id, "running");
        CHECK(engine().wait(operation, std::nullopt)->err.empty());
    }
    SECTION("and goes on in a later life") {
        end_life();
        clock.advance(std::chrono::minutes(15));
        begin_life();
        CHECK(engine().wait(operation, std::nullopt)->err == "instance did not report within 15m");
    }
}

TEST_CASE_METHOD(InstanceFixture, "a launch of which only the record was stored goes on alike") {
    end_life();
    Instance instance;
    instance.id = InstanceId(ids.object_id());
    instance.layers = {Images(store).get("base")->versions[0].layer()};
    instance.architecture = "x86_64";
    instance.start_requested_at = clock.now();
    Operation operation;
    operation.id = OperationId(ids.uuid());
    operation.kind = "instance.launch";
    operation.may_cancel = true;
    operation.claims = {"instances/" + instance.id.str()};
    operation.arguments = Json::object({{"instance", instance.id.str()}});
    sqlite.commit(Batch()
                      .put("instances/" + instance.id.str(), instance_to_store(instance).dump())
                      .put("operations/" + operation.id.str(), operation_to_store(operation).dump()));
    restart();
    CHECK(engine().wait(operation.id.str(), std::nullopt)->status == OperationStatus::success);
    CHECK(status(instance.id.str()) == InstanceStatus::running);
}

TEST_CASE_METHOD(InstanceFixture, "reservations of the last life count in the next") {
    launched();
    restart();
    CHECK(records().get(launched())->address == "10.0.0.3");
}

TEST_CASE_METHOD(InstanceFixture, "a running record without a running container becomes an error") {
    const std::string id = launched();
    end_life();
    simulated.stop(id, Duration::zero());
    restart();
    instances().reconciler().reconcile();
    await_told(id, "failed");
    settle(id);
    CHECK(records().get(id)->error_message == "container is gone");
}

TEST_CASE_METHOD(InstanceFixture, "a container without a record is removed, the others are left alone") {
    const std::string id = launched();
    ContainerSpec stray;
    stray.id = "stray";
    simulated.create(stray);
    simulated.start("stray");
    instances().reconciler().reconcile();
    CHECK_FALSE(has_container("stray"));
    CHECK(status(id) == InstanceStatus::running);
    CHECK(told(id).size() == 4);
}

TEST_CASE_METHOD(InstanceFixture, "a failed instance whose container still runs is stopped later") {
    const std::string id = booting();
    runtime.fail("stop", "it hangs");
    report(id, "error", "broken");
    CHECK(launch_of(id)->status == OperationStatus::failure);
    CHECK(simulated.inspect(id)->state == ContainerState::running);
    runtime.before("stop", nullptr);
    instances().reconciler().reconcile();
    settle(id);
    CHECK(simulated.inspect(id)->state == ContainerState::stopped);
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(InstanceFixture,
                 "an instance whose container cannot be read waits, and nothing of it is touched") {
    const std::string id = launched();
    const std::string stopped = launched();
    wait(instances().set_desired_status(stopped, "stopped", false, PathWord::containers, "test"));
    end_life();
    for (const std::string& one : {id, stopped}) runtime.set_fault(one, "spec.json is empty");
    restart();
    instances().reconciler().reconcile();
    instances().reconciler().reconcile();
    for (const std::string& one : {id, stopped}) {
        await_told(one, "failed");
        settle(one);
        CHECK(status(one) == InstanceStatus::error);
        CHECK(records().get(one)->error_message == "container cannot be read: spec.json is empty");
        CHECK(message_of([&] {
                  instances().set_desired_status(one, "running", false, PathWord::containers, "test");
              }) == "container cannot be read: spec.json is empty");
    }
    CHECK(simulated.inspect(id)->state == ContainerState::running);
    CHECK(simulated.inspect(stopped)->state == ContainerState::stopped);

    SECTION("until it can be: then it is what it was, and has what it had") {
        restart();
        CHECK(records().get(launched())->address == "10.0.0.3");  // the first one is still its own
        for (const std::string& one : {id, stopped}) runtime.set_fault(one, "");
        instances().reconciler().reconcile();
        await_told(id, "running");
        await_told(stopped, "stopped");
        settle(id);
        settle(stopped);
        CHECK(status(id) == InstanceStatus::running);
        CHECK(records().get(id)->address == "10.0.0.2");
        CHECK(records().get(id)->error_message.empty());
        CHECK(status(stopped) == InstanceStatus::stopped);
        CHECK(simulated.inspect(id)->state == ContainerState::running);
        instances().reconciler().reconcile();
        settle(id);
        CHECK(status(id) == InstanceStatus::running);
    }
    SECTION("or until somebody deletes it") {
        CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->err.empty());
        CHECK_FALSE(exists(id));
        CHECK_FALSE(simulated.inspect(id));
    }
    SECTION("or its deletion fails when it can be read: then it is no more what it was") {
        runtime.before("remove", [&] {
            runtime.set_fault(id, "");
            throw Error(ErrorCode::internal, "device is busy");
        });
        CHECK(wait(instances().remove(id, true, PathWord::containers, "test"))->err == "device is busy");
        instances().reconciler().reconcile();
        settle(id);
        CHECK(status(id) == InstanceStatus::error);
        CHECK(records().get(id)->error_message == "deletion failed: device is busy");
        wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
        CHECK(status(id) == InstanceStatus::running);
    }
}

TEST_CASE_METHOD(InstanceFixture,
                 "a container that has lost its specification gets it from the instance's record") {
    const std::string up = launched();
    const std::string down = launched();
    wait(instances().set_desired_status(down, "stopped", false, PathWord::containers, "test"));
    const std::string address = records().get(up)->address;
    end_life();
    for (const std::string& one : {up, down}) runtime.lose_specification(one, "spec.json is empty");
    restart();
    instances().reconciler().reconcile();
    settle(up);
    CHECK(status(up) == InstanceStatus::running);
    CHECK(records().get(up)->address == address);
    settle(down);
    CHECK(status(down) == InstanceStatus::stopped);
    CHECK(runtime.inspect(up)->state == ContainerState::running);
    CHECK(runtime.inspect(down)->state == ContainerState::stopped);
    const auto last = runtime.last_spec();
    CHECK((last.id == up || last.id == down));
    CHECK(last.layers == *records().get(last.id)->layers);
}

TEST_CASE_METHOD(InstanceFixture,
                 "a container that was set aside for its lost specification comes back with it") {
    const std::string id = launched();
    runtime.before("recreate_spec", [] { throw Error(ErrorCode::exhausted, "no space left on device"); });
    runtime.lose_specification(id, "spec.json is empty");
    instances().reconciler().reconcile();
    await_told(id, "failed");
    settle(id);
    CHECK(records().get(id)->error_message == "container cannot be read: spec.json is empty");
    runtime.before("recreate_spec", nullptr);
    instances().reconciler().reconcile();
    await_told(id, "running");
    settle(id);
    CHECK(status(id) == InstanceStatus::running);
    CHECK(records().get(id)->error_message.empty());
}

TEST_CASE_METHOD(InstanceFixture, "a container whose record cannot be read runs on and keeps its address") {
    const std::string id = launched();
    const std::string address = records().get(id)->address;
    end_life();
    sqlite.commit(Batch().put("instances/" + id, "{"));
    begin_life();
    instances().reconciler().reconcile();
    CHECK(simulated.inspect(id)->state == ContainerState::running);
    CHECK(records().get(launched())->address != address);
    const auto removal = life->management.unreadable().remove("instances/", id, "test");
    REQUIRE(removal);
    CHECK(wait(*removal)->err.empty());
    CHECK_FALSE(simulated.inspect(id));
    CHECK(records().get(launched())->address == address);
}

TEST_CASE_METHOD(InstanceFixture, "an instance whose record cannot be read is not told as removed") {
    const std::string id = launched();
    end_life();
    sqlite.commit(Batch().put("instances/" + id, "{"));
    restart();
    restart();
    const std::string other = launched();  // its events come after those that are owed
    CHECK(told(other).size() == 4);
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "an instance whose record cannot be read is told as removed once deleted") {
    const std::string id = launched();
    end_life();
    sqlite.commit(Batch().put("instances/" + id, "{"));
    restart();
    wait(*life->management.unreadable().remove("instances/", id, "test"));
    await_told(id, "removed");
    restart();
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running", "removed"});
}

TEST_CASE_METHOD(InstanceFixture, "a container that cannot be read and has no record is nobody's to remove") {
    ContainerSpec stray;
    stray.id = "stray";
    simulated.create(stray);
    runtime.set_fault("stray", "spec.json is empty");
    instances().reconciler().reconcile();
    CHECK(has_container("stray"));
    runtime.set_fault("stray", "");
    instances().reconciler().reconcile();
    CHECK_FALSE(has_container("stray"));
}

TEST_CASE_METHOD(InstanceFixture, "a start that fails because the container cannot be read changes nothing") {
    const std::string id = booting();
    end_life();
    runtime.set_fault(id, "spec.json is empty");
    restart();
    CHECK(launch_of(id)->status == OperationStatus::failure);
    CHECK(status(id) == InstanceStatus::error);
    CHECK(simulated.inspect(id)->state == ContainerState::running);
    CHECK(records().get(id)->address == "10.0.0.2");
    CHECK(code_of([&] { instances().reports().take(id, id, running_report(), [](const auto&) {}); }) ==
          ErrorCode::unavailable);  // its guest asks again
    guests_report = true;
    runtime.set_fault(id, "");
    instances().reconciler().reconcile();
    await_told(id, "started");
    settle(id);
    CHECK(simulated.inspect(id)->state == ContainerState::running);
}

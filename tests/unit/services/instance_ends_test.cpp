// Guests report, end, are stopped, started again and deleted.
#include <atomic>
#include <fstream>

#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;
using Actions = std::vector<std::string>;

TEST_CASE_METHOD(InstanceFixture, "an instance is deleted once, then unknown") {
    const std::string id = launched();
    Gate gate;
    runtime.before("remove", [&] { gate.pass(); });
    const auto deletion = instances().remove(id, false, PathWord::containers, "test");
    gate.await();
    CHECK(status(id) == InstanceStatus::deleted);
    CHECK(message_of([&] { instances().remove(id, true, PathWord::containers, "test"); }) ==
          "deletion already in progress");
    gate.open();
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(code_of([&] { instances().remove(id, true, PathWord::containers, "test"); }) ==
          ErrorCode::not_found);
    CHECK(told(id).back() == "removed");
    CHECK_FALSE(has_container(id));
}

TEST_CASE_METHOD(InstanceFixture, "a deletion ends a launch that is going on") {
    const std::string id = booting();
    const std::string launch_operation = records().get(id)->launch_operation;
    const auto deletion = instances().remove(id, false, PathWord::containers, "test");
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(engine().get(launch_operation)->status == OperationStatus::cancelled);
    CHECK_FALSE(has_container(id));
    CHECK(told(id) == Actions{"created", "scheduled", "started", "removed"});
}

TEST_CASE_METHOD(InstanceFixture,
                 "a launch that sees its deletion before it is asked to stop was cancelled") {
    const std::string id = booting();
    end_life();
    Instance stored = *Instances(store).get(id);
    stored.status = InstanceStatus::prepared;  // so that its start is still to be stored
    sqlite.commit(Batch().put("instances/" + id, instance_to_store(stored).dump()));
    Gate gate;
    runtime.before("create", [&] { gate.pass(); });
    restart();
    gate.await();
    store.after_next([&] {  // of the deletion, which has asked nobody yet
        gate.open();
        engine().wait(stored.launch_operation, std::nullopt);
    });
    const auto deletion = instances().remove(id, false, PathWord::containers, "test");
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(engine().get(stored.launch_operation)->status == OperationStatus::cancelled);
    CHECK(engine().get(stored.launch_operation)->err == "Operation cancelled");
    CHECK_FALSE(exists(id));
    CHECK_FALSE(has_container(id));
}

TEST_CASE_METHOD(InstanceFixture, "a deletion does not wait for the guest of a restarted instance") {
    const std::string id = launched();
    wait(instances().set_desired_status(id, "stopped", false, PathWord::containers, "test"));
    guests_report = false;
    instances().set_desired_status(id, "running", false, PathWord::containers, "test");
    await_told(id, "started");
    CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->status ==
          OperationStatus::success);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "a deletion that fails can be tried again") {
    const std::string id = launched();
    runtime.fail("remove", "device is busy");
    CHECK(wait(instances().remove(id, false, PathWord::containers, "test"))->err == "device is busy");
    CHECK(records().get(id)->error_message == "deletion failed: device is busy");
    runtime.before("remove", nullptr);
    CHECK(wait(instances().remove(id, true, PathWord::containers, "test"))->status ==
          OperationStatus::success);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "reports are taken from the instance itself") {
    const std::string id = booting();
    CHECK(code_of([&] { report("none", "none", running_report()); }) == ErrorCode::not_found);
    CHECK(code_of([&] { report(id, "other", running_report()); }) == ErrorCode::forbidden);
    report(id, "running");
    CHECK(launch_of(id)->status == OperationStatus::success);
    report(id, "running");  // agents repeat themselves
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "a reported error fails the launch, or the running instance") {
    const std::string booted = booting();
    report(booted, "error", "hook failed");
    CHECK(launch_of(booted)->err == "hook failed");
    CHECK(records().get(booted)->error_message == "hook failed");
    guests_report = true;
    const std::string running = launched();
    report(running, "error", "watchdog");
    CHECK(await_told(running, "failed").size() == 5);
    settle(running);
    CHECK(records().get(running)->error_message == "watchdog");
    CHECK(simulated.inspect(running)->state == ContainerState::stopped);
}

TEST_CASE_METHOD(InstanceFixture, "in development mode a reported error keeps the container") {
    InstanceCreate create = request();
    create.config.devmode = true;
    const std::string id = launched(create);
    report(id, "error", "watchdog");
    CHECK(status(id) == InstanceStatus::running);
}

TEST_CASE_METHOD(InstanceFixture, "a guest that ends well is stopped, and removed after a while") {
    const std::string id = launched();
    simulated.end(id, true, "");
    CHECK(await_told(id, "stopped").size() == 5);
    settle(id);
    CHECK(status(id) == InstanceStatus::stopped);
    CHECK(records().get(id)->address.empty());
    instances().reconciler().expire();
    CHECK(status(id) == InstanceStatus::stopped);
    clock.advance(std::chrono::seconds(61));
    instances().reconciler().expire();
    settle(id);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture,
                 "an ended guest lingers as long as it should, whatever the date is set to") {
    const auto hour = GENERATE(std::chrono::hours(1), std::chrono::hours(-1));
    const std::string id = launched();
    simulated.end(id, true, "");
    await_told(id, "stopped");
    settle(id);
    clock.step(hour);
    restart();
    clock.advance(std::chrono::seconds(59));
    instances().reconciler().expire();
    settle(id);
    CHECK(status(id) == InstanceStatus::stopped);
    clock.advance(std::chrono::seconds(1));
    instances().reconciler().expire();
    settle(id);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "what an instance held is free when its record says so, not before") {
    const std::string id = launched();
    REQUIRE(records().get(id)->address == "10.0.0.2");
    Instance other;
    other.id = InstanceId("c5pvhr3fbn40000000f0");
    other.resources = *instance_type_resources("a2.3");
    const std::string how = GENERATE("stop", "fail", "delete");
    std::atomic<std::size_t> fails_from = 0;
    runtime.before(how == "delete" ? "remove" : "stop", [&] {
        if (fails_from > 0) return;
        fails_from = store.commits();
        store.fail_all(true);
    });
    if (how == "stop") instances().set_desired_status(id, "stopped", false, PathWord::containers, "test");
    if (how == "fail") report(id, "error", "broken");
    if (how == "delete") instances().remove(id, true, PathWord::containers, "test");
    eventually("the end is to be stored", [&] { return fails_from > 0 && store.commits() > fails_from; });
    CHECK(nodes().reserve(other).address == "10.0.0.3");
    nodes().release_all(other);
    store.fail_all(false);
    turn_clock_until("the end is stored", std::chrono::milliseconds(50),
                     [&] { return !engine().claimed("instances/" + id); });
    CHECK(nodes().reserve(other).address == "10.0.0.2");
    runtime.before(how == "delete" ? "remove" : "stop", nullptr);
}

TEST_CASE_METHOD(InstanceFixture, "a guest that dies leaves an error with the runtime's reason") {
    const std::string id = launched();
    simulated.end(id, false, "init was killed by signal 9 (out of memory)");
    await_told(id, "failed");
    settle(id);
    CHECK(records().get(id)->error_message == "init was killed by signal 9 (out of memory)");
}

TEST_CASE_METHOD(InstanceFixture, "a guest that ends while booting fails the launch at once") {
    const std::string id = booting();
    simulated.end(id, false, "init exited with status 1");
    CHECK(launch_of(id)->err == "init exited with status 1");
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(InstanceFixture, "stopped by request stays, and starts again with a new address") {
    const std::string id = launched();
    CHECK(message_of([&] {
              instances().set_desired_status(id, "running", false, PathWord::containers, "t");
          }) == "Already running");
    wait(instances().set_desired_status(id, "stopped", false, PathWord::containers, "test"));
    CHECK(status(id) == InstanceStatus::stopped);
    CHECK(code_of([&] { instances().set_desired_status(id, "stopped", false, PathWord::containers, "t"); }) ==
          ErrorCode::invalid_argument);
    clock.advance(std::chrono::hours(1));
    instances().reconciler().expire();
    CHECK(status(id) == InstanceStatus::stopped);
    launched();  // takes the address
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(records().get(id)->address == "10.0.0.3");
    CHECK(status(id) == InstanceStatus::running);
}

TEST_CASE_METHOD(InstanceFixture,
                 "a start that finds no room leaves the stopped instance to whom it belongs") {
    const std::string id = launched();
    wait(instances().set_desired_status(id, "stopped", false, PathWord::containers, "test"));
    for (int others = 0; others < 8; ++others) launched();  // takes all there is
    const auto refused =
        wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(refused->status == OperationStatus::failure);
    clock.advance(std::chrono::hours(1));
    instances().reconciler().expire();
    CHECK(status(id) == InstanceStatus::stopped);
}

TEST_CASE_METHOD(InstanceFixture, "a failed instance starts again without its old logs") {
    const auto log = directory.path() / "console.log";
    std::ofstream(log) << "panic";
    runtime.add_log({"console.log", log});
    const std::string id = launched();
    simulated.end(id, false, "crashed");
    await_told(id, "failed");
    settle(id);
    REQUIRE(records().get(id)->stored_logs.size() == 1);
    const std::string digest = records().get(id)->stored_logs[0].digest;
    CHECK(blobs.contains(digest));
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(status(id) == InstanceStatus::running);
    CHECK(records().get(id)->stored_logs.empty());
    CHECK(records().get(id)->error_message.empty());
    CHECK_FALSE(blobs.contains(digest));
}

TEST_CASE_METHOD(InstanceFixture, "the logs of a failed instance outlive a restart, and go with it") {
    const auto log = directory.path() / "console.log";
    std::ofstream(log) << "panic";
    runtime.add_log({"console.log", log});
    const std::string id = launched();
    simulated.end(id, false, "crashed");
    await_told(id, "failed");
    settle(id);
    const std::string digest = records().get(id)->stored_logs.at(0).digest;
    restart();
    life->content.collect_garbage();
    CHECK(read_file(instances().log(id, "console.log")) == "panic");
    wait(instances().remove(id, true, PathWord::containers, "test"));
    CHECK_FALSE(blobs.contains(digest));
}

TEST_CASE_METHOD(InstanceFixture,
                 "a log that an earlier version has kept in a file is read, and goes with its instance") {
    const std::string id = launched();
    const auto file = directory.path() / "logs" / id / "console.log";
    make_directories(file.parent_path());
    std::ofstream(file) << "panic";
    life->instances.update(id, [](Instance& record) { record.stored_logs = {{"console.log", ""}}; });
    CHECK(instances().log(id, "console.log") == file);
    wait(instances().remove(id, true, PathWord::containers, "test"));
    CHECK_FALSE(std::filesystem::exists(file.parent_path()));
}

namespace {

struct ProtectedFixture : InstanceFixture {
    std::string id = launched(protected_request());

    static InstanceCreate protected_request() {
        InstanceCreate create = request();
        create.name = "keep-me";
        create.config.delete_protected = true;
        return create;
    }
    std::string deletion_refusal(bool force) {
        return message_of([&] { instances().remove(id, force, PathWord::containers, "test"); });
    }
    void protect(bool wanted) {
        const auto done = wait(instances().protect(id, wanted, PathWord::containers, "test"));
        REQUIRE(done->err == "");
        CHECK(done->description == "Updating container");
    }
};

}  // namespace

TEST_CASE_METHOD(ProtectedFixture, "a protected instance is deleted only when that is taken off") {
    for (const bool force : {false, true})
        CHECK(deletion_refusal(force) == "deleting protected container 'keep-me' not allowed");
    CHECK(code_of([&] { instances().remove(id, true, PathWord::containers, "test"); }) ==
          ErrorCode::forbidden);
    restart();
    CHECK_FALSE(deletion_refusal(true).empty());
    CHECK(status(id) == InstanceStatus::running);
    protect(false);
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "an instance is protected while it boots, and boots on") {
    const std::string id = booting();
    wait(instances().protect(id, true, PathWord::containers, "test"));
    report(id, "running");
    CHECK(wait(launch_of(id))->status == OperationStatus::success);
    CHECK(records().get(id)->config->delete_protected);
    CHECK(code_of([&] { instances().remove(id, true, PathWord::containers, "test"); }) ==
          ErrorCode::forbidden);
}

TEST_CASE_METHOD(InstanceFixture, "cancelling the launch of a protected instance keeps the instance") {
    const std::string id = booting();
    const auto protect = [&] { wait(instances().protect(id, true, PathWord::containers, "test")); };
    bool container_stays = false;
    SECTION("protected before") {
        protect();
        container_stays = true;
    }
    SECTION("protected while the launch is undone") {
        runtime.before("remove", protect);
    }
    const std::string address = records().get(id)->address;
    engine().cancel(records().get(id)->launch_operation);
    CHECK(launch_of(id)->status == OperationStatus::cancelled);
    REQUIRE(exists(id));
    CHECK(status(id) == InstanceStatus::error);
    CHECK(records().get(id)->error_message == "launch was cancelled");
    CHECK(records().get(id)->address.empty());
    CHECK(told(id) == Actions{"created", "scheduled", "started", "failed"});
    CHECK(has_container(id) == container_stays);
    runtime.before("remove", nullptr);
    guests_report = true;
    CHECK(records().get(launched())->address == address);  // it was given back
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(status(id) == InstanceStatus::running);
}

TEST_CASE_METHOD(InstanceFixture, "a node with a protected instance stays, with all its instances") {
    launch_on_old_node();
    const std::string id = launched(ProtectedFixture::protected_request());
    const std::string other = launched();
    NodeRemoval removal;
    removal.force = true;
    CHECK(wait(nodes().remove("old", removal, "test"))->err ==
          "deleting protected container 'keep-me' not allowed");
    CHECK(exists(id));
    CHECK(exists(other));
    CHECK(nodes().get("old")->status == NodeStatus::online);
}

TEST_CASE_METHOD(ProtectedFixture, "a protected instance that ends by itself stays until it may go") {
    simulated.end(id, true, "");
    await_told(id, "stopped");
    settle(id);
    clock.advance(std::chrono::seconds(61));
    instances().reconciler().expire();
    settle(id);
    CHECK(status(id) == InstanceStatus::stopped);
    protect(false);
    instances().reconciler().expire();
    settle(id);
    CHECK_FALSE(exists(id));
}

#include "libsvc/services/instance_service.h"

#include <algorithm>
#include <fstream>

#include "tests/unit/services/service_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

using Actions = std::vector<std::string>;

InstanceReport running_report() {
    InstanceReport report;
    report.status = "running";
    return report;
}

struct InstanceFixture : ServiceFixture {
    InstanceFixture() { add_image("base"); }

    // A guest that boots until the test says otherwise.
    std::string booting(const InstanceCreate& create = request()) {
        guests_report = false;
        const std::string id = id_of(launch(create));
        await_told(id, "started");
        return id;
    }
    std::shared_ptr<const Operation> launch_of(const std::string& id) {
        return engine().wait(instances().get(id)->launch_operation, std::nullopt);
    }
    bool exists(const std::string& id) { return life->instances.find(id) != nullptr; }
    bool has_container(const std::string& id) { return runtime.inspect(id).has_value(); }
    // Turns the clock until an operation is over: a timer may just have been set when it is turned.
    std::shared_ptr<const Operation> advance_until_final(const std::string& operation) {
        while (!is_final(engine().get(operation)->status)) clock.advance(std::chrono::minutes(1));
        return engine().get(operation);
    }
    std::string refusal(const InstanceCreate& create) {
        return message_of([&] { launch(create); });
    }
};

}  // namespace

TEST_CASE_METHOD(InstanceFixture, "a launch tells each state once, in order, and ends when the guest runs") {
    const Started started = launch();
    const std::string id = id_of(started);
    CHECK(started->resources.at("containers").at(0) == "/1.0/containers/" + id);
    CHECK(wait(started)->status == OperationStatus::success);
    const auto instance = instances().get(id);
    CHECK(instance->status == InstanceStatus::running);
    CHECK(instance->name() == "svc-" + id);
    CHECK(instance->address == "10.0.0.2");
    CHECK(instance->node == "node0");
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "the container gets what the record says") {
    InstanceCreate create = request();
    create.user_data = "hello";
    ServiceEntry service;
    service.name = "ssh";
    service.port = 22;
    service.protocols = {"tcp"};
    service.expose = true;
    create.services = {service};
    const std::string id = launched(create);
    const ContainerSpec spec = runtime.last_spec();
    CHECK(spec.id == id);
    CHECK(spec.layers == std::vector<std::string>{images().get("base")->versions[0].fingerprint});
    CHECK(spec.cpus == 2);
    CHECK(spec.memory_bytes == std::uint64_t{3} << 30);
    CHECK(spec.forwards == std::vector<PortForward>{{22, 10000, 1, true, false, true}});
    REQUIRE(spec.files.size() == 2);
    CHECK(spec.files[0].mode == 0600);
    const auto session = AgentSession::from_json(Json::parse(spec.files[0].content));
    CHECK(tokens.check("Bearer " + session.token) == id);
    CHECK(session.ready.file == "/run/ready");
    CHECK(spec.files[1].content == "hello");
}

TEST_CASE_METHOD(InstanceFixture, "a wrong launch is refused at once and leaves nothing") {
    InstanceCreate create = request("none");
    CHECK(refusal(create) == "image not found");
    create = request();
    create.image_version = 4;
    CHECK(refusal(create) == "image version not found");
    create = request();
    create.node = "other";
    CHECK(refusal(create) == "node not found");
    create = request();
    create.disk_size = 1;
    CHECK(code_of([&] { launch(create); }) == ErrorCode::invalid_argument);
    create = {};
    create.app_id = "app";
    CHECK(refusal(create) == "application not found");
    CHECK(instances().list().empty());
    CHECK(actions.get().empty());
}

TEST_CASE_METHOD(InstanceFixture, "an image that is not unpacked yet cannot be launched") {
    Gate gate;
    layers.before_add([&] { gate.pass(); });
    const auto adding = images().create({"slow", {}}, package({.text = "slow"}), "", "test");
    CHECK(refusal(request("slow")) == "image slow is not active");
    gate.open();
    wait(adding);
    CHECK_NOTHROW(launched(request("slow")));
}

TEST_CASE_METHOD(InstanceFixture, "no_start ends prepared, a start brings it up") {
    InstanceCreate create = request();
    create.no_start = true;
    const std::string id = launched(create);
    CHECK(status(id) == InstanceStatus::prepared);
    CHECK_FALSE(has_container(id));
    CHECK(told(id) == Actions{"created", "scheduled"});
    wait(instances().set_desired_status(id, "running", false, PathWord::instances, "test"));
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "no_wait ends prepared and goes on to running") {
    const Started started = launch(request(), true);
    CHECK(wait(started)->status == OperationStatus::success);
    CHECK(await_told(id_of(started), "running") == Actions{"created", "scheduled", "started", "running"});
    CHECK(status(id_of(started)) == InstanceStatus::running);
}

TEST_CASE_METHOD(InstanceFixture, "no node that fits: the operation fails with the reason, the record goes") {
    InstanceCreate create = request();
    create.cpus = 1000;
    const Started started = launch(create);
    const auto done = wait(started);
    CHECK(done->status == OperationStatus::failure);
    CHECK_THAT(done->err, Catch::StartsWith("No suitable node to satisfy container requirement available"));
    CHECK_FALSE(exists(id_of(started)));
    CHECK(told(id_of(started)) == Actions{"created", "failed", "removed"});
}

TEST_CASE_METHOD(InstanceFixture, "a container that cannot start leaves an error, its logs and its disk") {
    const auto log = directory.path() / "console.log";
    std::ofstream(log) << "kernel panic";
    runtime.add_log({"console.log", log});
    runtime.add_log({"gone.log", directory.path() / "gone"});
    runtime.fail("start", "init ended at once");
    const Started started = launch();
    const std::string id = id_of(started);
    CHECK(wait(started)->err == "init ended at once");
    const auto instance = instances().get(id);
    CHECK(instance->status == InstanceStatus::error);
    CHECK(instance->error_message == "init ended at once");
    CHECK(instance->address.empty());
    CHECK(instances().logs(id) == std::vector<std::string>{"console.log"});
    CHECK(read_file(instances().log(id, "console.log")) == "kernel panic");
    CHECK(message_of([&] { instances().log(id, "../secret"); }) == "log not found");
    CHECK(told(id).back() == "failed");
    runtime.before("start", nullptr);
    CHECK(instances().get(launched())->address == "10.0.0.2");  // it was given back
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK_FALSE(std::filesystem::exists(directory.path() / "logs" / id));
}

TEST_CASE_METHOD(InstanceFixture, "a container that cannot be created fails alike") {
    runtime.fail("create", "no space for it");
    const Started started = launch();
    CHECK(wait(started)->err == "no space for it");
    CHECK(status(id_of(started)) == InstanceStatus::error);
    CHECK(told(id_of(started)) == Actions{"created", "scheduled", "failed"});
}

TEST_CASE_METHOD(InstanceFixture, "a guest that does not report fails after the boot timeout") {
    const std::string id = booting();
    const auto done = advance_until_final(instances().get(id)->launch_operation);
    CHECK(done->err == "instance did not report within 15m");
    CHECK(status(id) == InstanceStatus::error);
    CHECK(simulated.inspect(id)->state == ContainerState::stopped);
    CHECK(told(id) == Actions{"created", "scheduled", "started", "failed"});
}

TEST_CASE_METHOD(InstanceFixture, "waiting guests hold no worker") {
    guests_report = false;
    std::vector<Started> all;
    for (int i = 0; i < 8; ++i) all.push_back(launch());  // the engine has four
    for (const Started& started : all) await_told(id_of(started), "started");
    for (const Started& started : all) report(id_of(started), "running");
    for (const Started& started : all) CHECK(wait(started)->status == OperationStatus::success);
}

TEST_CASE_METHOD(InstanceFixture, "a cancelled launch leaves nothing") {
    const std::string id = booting();
    const std::string operation = instances().get(id)->launch_operation;
    engine().cancel(operation);
    const auto done = engine().wait(operation, std::nullopt);
    CHECK(done->status == OperationStatus::cancelled);
    CHECK_FALSE(exists(id));
    CHECK_FALSE(has_container(id));
    CHECK(told(id) == Actions{"created", "scheduled", "started", "removed"});
    guests_report = true;
    CHECK(instances().get(launched())->address == "10.0.0.2");
}

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
    const std::string launch_operation = instances().get(id)->launch_operation;
    const auto deletion = instances().remove(id, false, PathWord::containers, "test");
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(engine().get(launch_operation)->status == OperationStatus::cancelled);
    CHECK_FALSE(has_container(id));
    CHECK(told(id) == Actions{"created", "scheduled", "started", "removed"});
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
    CHECK(instances().get(id)->error_message == "deletion failed: device is busy");
    runtime.before("remove", nullptr);
    CHECK(wait(instances().remove(id, true, PathWord::containers, "test"))->status ==
          OperationStatus::success);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "reports are taken from the instance itself") {
    const std::string id = booting();
    CHECK(code_of([&] { instances().report("none", "none", running_report()); }) == ErrorCode::not_found);
    CHECK(code_of([&] { instances().report(id, "other", running_report()); }) == ErrorCode::forbidden);
    report(id, "running");
    CHECK(launch_of(id)->status == OperationStatus::success);
    report(id, "running");  // agents repeat themselves
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "a reported error fails the launch, or the running instance") {
    const std::string booted = booting();
    report(booted, "error", "hook failed");
    CHECK(launch_of(booted)->err == "hook failed");
    CHECK(instances().get(booted)->error_message == "hook failed");
    guests_report = true;
    const std::string running = launched();
    report(running, "error", "watchdog");
    CHECK(await_told(running, "failed").size() == 5);
    settle(running);
    CHECK(instances().get(running)->error_message == "watchdog");
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
    CHECK(instances().get(id)->address.empty());
    instances().expire();
    CHECK(status(id) == InstanceStatus::stopped);
    clock.advance(std::chrono::seconds(61));
    instances().expire();
    settle(id);
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "a guest that dies leaves an error with the runtime's reason") {
    const std::string id = launched();
    simulated.end(id, false, "init was killed by signal 9 (out of memory)");
    await_told(id, "failed");
    settle(id);
    CHECK(instances().get(id)->error_message == "init was killed by signal 9 (out of memory)");
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
    instances().expire();
    CHECK(status(id) == InstanceStatus::stopped);
    launched();  // takes the address
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(instances().get(id)->address == "10.0.0.3");
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
    instances().expire();
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
    REQUIRE(instances().logs(id).size() == 1);
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(status(id) == InstanceStatus::running);
    CHECK(instances().logs(id).empty());
    CHECK(instances().get(id)->error_message.empty());
    CHECK_FALSE(std::filesystem::exists(directory.path() / "logs" / id / "console.log"));
}

TEST_CASE_METHOD(InstanceFixture, "a launch goes on in the next life of the daemon") {
    const std::string id = booting();
    restart();
    await_told(id, "started");
    while (code_of([&] { report(id, "running"); }) ==
           ErrorCode::unavailable) {  // until it is waited for again
    }
    CHECK(status(id) == InstanceStatus::running);
    CHECK(launch_of(id)->status == OperationStatus::success);
    CHECK(instances().get(id)->address == "10.0.0.2");
    CHECK(told(id) == Actions{"created", "scheduled", "started", "running"});
}

TEST_CASE_METHOD(InstanceFixture, "a guest has no more time to boot because the daemon was restarted") {
    const std::string id = booting();
    const std::string operation = instances().get(id)->launch_operation;
    end_life();
    clock.advance(std::chrono::minutes(15));
    restart();
    CHECK(engine().wait(operation, std::nullopt)->err == "instance did not report within 15m");
    CHECK(status(id) == InstanceStatus::error);
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
    CHECK(instances().get(launched())->address == "10.0.0.3");
}

TEST_CASE_METHOD(InstanceFixture, "a running record without a running container becomes an error") {
    const std::string id = launched();
    end_life();
    simulated.stop(id, Duration::zero());
    restart();
    instances().reconcile();
    await_told(id, "failed");
    settle(id);
    CHECK(instances().get(id)->error_message == "container is gone");
}

TEST_CASE_METHOD(InstanceFixture, "a container without a record is removed, the others are left alone") {
    const std::string id = launched();
    ContainerSpec stray;
    stray.id = "stray";
    simulated.create(stray);
    simulated.start("stray");
    instances().reconcile();
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
    instances().reconcile();
    settle(id);
    CHECK(simulated.inspect(id)->state == ContainerState::stopped);
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(InstanceFixture, "an image can go while an instance uses its layer") {
    const std::string layer = images().get("base")->versions[0].layer();
    const std::string id = launched();
    wait(images().remove("base", true, "test"));
    CHECK(simulated.layers().contains(layer));
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK_FALSE(simulated.layers().contains(layer));
}

TEST_CASE_METHOD(InstanceFixture, "launches that do not all fit never oversubscribe") {
    std::vector<Started> all;
    for (int i = 0; i < 12; ++i) all.push_back(launch());  // eight fit
    int running = 0;
    for (const Started& started : all) running += wait(started)->status == OperationStatus::success ? 1 : 0;
    CHECK(running == 8);
    CHECK(instances().list().size() == 8);
}

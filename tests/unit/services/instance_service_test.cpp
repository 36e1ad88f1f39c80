// Instances are launched.
#include "libsvc/services/instances/instance_service.h"

#include <fstream>

#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;
using Actions = std::vector<std::string>;

TEST_CASE_METHOD(InstanceFixture, "a launch tells each state once, in order, and ends when the guest runs") {
    const Started started = launch();
    const std::string id = id_of(started);
    CHECK(started->resources.at("containers").at(0) == "/1.0/containers/" + id);
    CHECK(wait(started)->status == OperationStatus::success);
    const auto instance = records().get(id);
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
    CHECK(records().list().empty());
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
    const auto instance = records().get(id);
    CHECK(instance->status == InstanceStatus::error);
    CHECK(instance->error_message == "init ended at once");
    CHECK(instance->address.empty());
    REQUIRE(instance->stored_logs.size() == 1);
    CHECK(instance->stored_logs[0].name == "console.log");
    CHECK(read_file(instances().log(id, "console.log")) == "kernel panic");
    CHECK(message_of([&] { instances().log(id, "../secret"); }) == "log not found");
    CHECK(told(id).back() == "failed");
    runtime.before("start", nullptr);
    CHECK(records().get(launched())->address == "10.0.0.2");  // it was given back
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
    const auto done = advance_until_final(records().get(id)->launch_operation);
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
    const std::string operation = records().get(id)->launch_operation;
    engine().cancel(operation);
    const auto done = engine().wait(operation, std::nullopt);
    CHECK(done->status == OperationStatus::cancelled);
    CHECK_FALSE(exists(id));
    CHECK_FALSE(has_container(id));
    CHECK(told(id) == Actions{"created", "scheduled", "started", "removed"});
    guests_report = true;
    CHECK(records().get(launched())->address == "10.0.0.2");
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
    CHECK(records().list().size() == 8);
}

namespace {

InstanceCreate named(const std::string& name) {
    InstanceCreate create = ServiceFixture::request();
    create.name = name;
    return create;
}

}  // namespace

TEST_CASE_METHOD(InstanceFixture, "a named instance is found by its name, also after a restart") {
    const std::string id = launched(named("web-1"));
    CHECK(records().get("web-1")->id.str() == id);
    CHECK(records().get(id)->name() == "web-1");
    restart();
    CHECK(records().get("web-1")->id.str() == id);
    wait(instances().remove("web-1", true, PathWord::containers, "test"));
    CHECK_FALSE(exists(id));
}

TEST_CASE_METHOD(InstanceFixture, "a name is taken until its instance is gone") {
    const std::string id = launched(named("web-1"));
    CHECK(refusal(named("web-1")) == "container 'web-1' already exists");
    CHECK(code_of([&] { launch(named("web-1")); }) == ErrorCode::conflict);
    CHECK(records().list().size() == 1);
    wait(instances().remove(id, true, PathWord::containers, "test"));
    CHECK(records().get(launched(named("web-1")))->name() == "web-1");
}

TEST_CASE_METHOD(InstanceFixture, "of launches of one name at the same moment one is made") {
    std::atomic<int> made{0};
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i)
        callers.emplace_back([&] {
            try {
                wait(launch(named("web-1")));
                ++made;
            } catch (const Error& e) {
                if (std::string(e.what()) != "container 'web-1' already exists") made = 100;
            }
        });
    callers.clear();
    CHECK(made == 1);
    CHECK(records().list().size() == 1);
}

TEST_CASE_METHOD(InstanceFixture, "a launch that could not be made frees its name") {
    InstanceCreate large = named("web-1");
    large.cpus = 1000;
    CHECK(wait(launch(large))->status == OperationStatus::failure);
    CHECK(records().get(launched(named("web-1")))->name() == "web-1");
}

#include "libsvc/services/node_service.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"

using namespace svc;
using namespace svc::test;

namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

SimulatedOptions machine() {
    SimulatedOptions options;
    options.cpus = 2;  // times 4
    options.memory_bytes = 8 * gigabyte;
    options.disk_bytes = 30 * gigabyte;
    options.subnet = "10.0.0.1/24";
    return options;
}

struct Fixture {
    ManualClock clock;
    SqliteStore store{":memory:"};
    SequenceIds ids;
    EventBus bus{clock};
    Nodes nodes{store};
    Addons addons{store};
    ConfigRecords config_records{store};
    Engine engine{store, bus, clock, ids, {.workers = 2}};
    ConfigService config{config_records, addons, engine};
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-nodes-"};
    SimulatedRuntime runtime{clock, machine()};
    NodeService service{parts(runtime)};

    ~Fixture() { engine.stop(std::chrono::hours(1)); }

    NodeServiceParts parts(Runtime& of) {
        NodeServiceOptions options;
        options.local_name = "node0";
        options.last_port = 10009;
        options.sysfs = directory.path();
        return {nodes, of, config, engine, options};
    }
    std::shared_ptr<const Operation> wait(const Started& started) {
        return engine.wait(started->id.str(), std::nullopt);
    }
    void configure(const std::string& key, const std::string& value) {
        REQUIRE(wait(config.patch({key, value}, "test"))->err.empty());
    }
    void patch(const NodePatch& change) {
        REQUIRE(wait(service.patch("node0", change, "test"))->err.empty());
    }

    static Instance instance(const std::string& id) {
        Instance made;
        made.id = InstanceId(id);
        made.resources = {2, gigabyte, 3 * gigabyte, 0};
        made.architecture = "x86_64";
        return made;
    }
    Instance reserved(const std::string& id, std::vector<ServiceEntry> services = {}) {
        Instance made = instance(id);
        made.services = std::move(services);
        const Reservation got = service.reserve(made);
        made.node = got.node;
        made.address = got.address;
        made.services = got.services;
        made.status = InstanceStatus::prepared;
        return made;
    }
};

ServiceEntry ports(std::uint16_t first, std::uint16_t last) {
    ServiceEntry service;
    service.port = first;
    service.port_end = last;
    service.protocols = {"tcp"};
    return service;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "the local node is what the runtime says") {
    const auto node = service.get("node0");
    CHECK(node->cpus == 2);
    CHECK(node->runtime == "simulated");
    CHECK(node->status == NodeStatus::online);
    CHECK(node->subnet == "10.0.0.1/24");
}

TEST_CASE_METHOD(Fixture, "what a user has set on the node outlives a restart") {
    nodes.update("node0", [](Node& node) {
        node.cpu_allocation_rate = 8;
        node.public_address = "203.0.113.7";
    });
    const NodeService again(parts(runtime));
    CHECK(again.get("node0")->cpu_allocation_rate == 8);
    CHECK(again.get("node0")->public_address == "203.0.113.7");
}

TEST_CASE_METHOD(Fixture, "a reservation has the lowest address and ports, ranges in a row") {
    const Instance first = reserved("a", {ports(22, 0), ports(7000, 7002)});
    CHECK(first.address == "10.0.0.2");
    CHECK(first.services[0].node_port == 10000);
    CHECK(first.services[1].node_port == 10001);
    CHECK(first.services[1].node_port_end == 10003);
    CHECK(reserved("b", {ports(22, 0)}).services[0].node_port == 10004);
}

TEST_CASE_METHOD(Fixture, "released addresses and ports are used again") {
    const Instance first = reserved("a", {ports(22, 0)});
    service.release_all(first);
    service.release_all(first);
    const Instance second = reserved("b", {ports(22, 0)});
    CHECK(second.address == first.address);
    CHECK(second.services[0].node_port == 10000);
}

TEST_CASE_METHOD(Fixture, "cpus are overcommitted up to the rate") {
    for (const char* id : {"a", "b", "c", "d"}) reserved(id);
    CHECK(code_of([&] { reserved("e"); }) == ErrorCode::exhausted);
    CHECK_THAT(message_of([&] { reserved("e"); }),
               Catch::StartsWith("No suitable node to satisfy container requirement available"));
}

TEST_CASE_METHOD(Fixture, "the disk of a stopped instance stays reserved until it is removed") {
    std::vector<Instance> stopped;
    for (int i = 0; i < 10; ++i) {
        stopped.push_back(reserved("stopped" + std::to_string(i)));
        service.release_all_but_disk(stopped.back());
        service.release_all_but_disk(stopped.back());
    }
    CHECK_THAT(message_of([&] { reserved("a"); }), Catch::Contains("disk"));
    service.release_all(stopped.back());
    CHECK_NOTHROW(reserved("a"));
}

TEST_CASE_METHOD(Fixture, "a stopped instance starts where its disk is, without a second one") {
    nodes.update("node0", [](Node& node) { node.disk_size = 3 * gigabyte; });
    const Instance stopped = reserved("a");
    service.release_all_but_disk(stopped);
    CHECK(service.reserve(stopped).node == "node0");
}

TEST_CASE_METHOD(Fixture, "no port and no address left have texts of their own") {
    reserved("a", {ports(100, 108)});
    CHECK(message_of([&] { reserved("b", {ports(100, 101)}); }) == "no free port available");
    SimulatedOptions small = machine();
    small.subnet = "10.0.0.1/30";
    SimulatedRuntime small_runtime(clock, small);
    NodeService small_service(parts(small_runtime));
    small_service.reserve(instance("a"));
    CHECK(message_of([&] { small_service.reserve(instance("b")); }) == "no free address available");
}

TEST_CASE_METHOD(Fixture, "a failed reservation of ports gives the address back") {
    CHECK(code_of([&] { reserved("a", {ports(1, 8), ports(20, 28)}); }) == ErrorCode::exhausted);
    CHECK(reserved("b").address == "10.0.0.2");
}

TEST_CASE_METHOD(Fixture, "what the records hold is adopted at the start") {
    const auto running = std::make_shared<Instance>(reserved("a", {ports(22, 0)}));
    auto stopped = std::make_shared<Instance>(instance("b"));
    stopped->node = "node0";
    stopped->status = InstanceStatus::stopped;
    NodeService again(parts(runtime));
    again.adopt({running, stopped});
    Instance next = instance("c");
    next.services = {ports(22, 0)};
    const Reservation got = again.reserve(next);
    CHECK(got.address == "10.0.0.3");
    CHECK(got.services[0].node_port == 10001);
    next.resources.disk = 25 * gigabyte;  // 30 - 3 - 3 - 3 are free
    next.id = InstanceId("d");
    CHECK(code_of([&] { again.reserve(next); }) == ErrorCode::exhausted);
}

TEST_CASE_METHOD(Fixture, "a wanted node must exist, be online and schedulable") {
    CHECK_NOTHROW(service.check_wanted("node0"));
    CHECK(code_of([&] { service.check_wanted("other"); }) == ErrorCode::not_found);
    nodes.update("node0", [](Node& node) { node.unschedulable = true; });
    CHECK(code_of([&] { service.check_wanted("node0"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { reserved("a"); }) == ErrorCode::exhausted);
}

TEST_CASE_METHOD(Fixture, "another architecture finds no node") {
    Instance foreign = instance("a");
    foreign.architecture = "aarch64";
    CHECK(code_of([&] { service.reserve(foreign); }) == ErrorCode::exhausted);
}

TEST_CASE_METHOD(Fixture, "concurrent reservations never oversubscribe nor share an address") {
    Guarded<std::set<std::string>> addresses;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < 4; ++i) {
                    try {
                        const auto got = service.reserve(instance(std::to_string(t * 10 + i)));
                        addresses.with([&](auto& all) { all.insert(got.address); });
                    } catch (const Error&) {
                        continue;
                    }
                }
            });
    }
    CHECK(addresses.with([](auto& all) { return all.size(); }) == 4);  // 8 cpus by 2
}

TEST_CASE_METHOD(Fixture, "the entity tag follows what can be changed") {
    const std::string before = service.etag(*service.get("node0"));
    nodes.update("node0", [](Node& node) { node.tags = {"zone=a"}; });
    CHECK(service.etag(*service.get("node0")) != before);
}

TEST_CASE_METHOD(Fixture, "each field of a patch counts for the next placement") {
    Instance wanting = instance("a");
    NodePatch change;
    SECTION("cpus") {
        change.cpus = 1;
        change.cpu_allocation_rate = 1;
    }
    SECTION("memory") {
        change.memory = gigabyte;
        change.memory_allocation_rate = 0.5;
    }
    SECTION("unschedulable") {
        change.unschedulable = true;
    }
    SECTION("tags") {
        wanting.node_selector = {"fast"};
        change.tags = std::vector<std::string>{"slow"};
    }
    patch(change);
    CHECK(code_of([&] { service.reserve(wanting); }) == ErrorCode::exhausted);
    NodePatch back;
    back.cpus = 0;
    back.memory = 0;
    back.cpu_allocation_rate = 4;
    back.memory_allocation_rate = 2;
    back.unschedulable = false;
    back.tags = std::vector<std::string>{"fast", "zone=a"};
    back.public_address = "203.0.113.7";
    patch(back);
    CHECK(service.reserve(wanting).public_address == "203.0.113.7");
    CHECK(service.get("node0")->tags.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a patch of the public address can be taken back") {
    NodePatch change;
    change.public_address = "203.0.113.7";
    patch(change);
    change.public_address = "";
    patch(change);
    CHECK(service.get("node0")->public_address == service.get("node0")->address);
    CHECK(code_of([&] { service.patch("other", change, "test"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(Fixture, "gpu slots are a number where no GPU shows, by type or by hand") {
    Instance wanting = instance("a");
    wanting.resources.gpu_slots = 1;
    CHECK(code_of([&] { service.reserve(wanting); }) == ErrorCode::exhausted);
    configure("gpu.type", "amd");
    CHECK(service.get("node0")->gpu_slots == 10);
    const Reservation got = service.reserve(wanting);
    CHECK(got.gpus.empty());
    service.release_all(wanting);
    NodePatch change;
    change.gpu_slots = 0;
    patch(change);
    CHECK(service.get("node0")->gpu_slots == 0);
    wanting.node = {};
    CHECK(code_of([&] { service.reserve(wanting); }) == ErrorCode::exhausted);
    change.gpu_slots.reset();
    change.gpus = {{0, 1, 1}};
    CHECK(message_of([&] { service.patch("node0", change, "test"); }) ==
          "argument gpus is invalid: node node0 has no GPU 0");
}

namespace {

struct GpuMachine : Fixture {
    GpuMachine() {
        for (const char* number : {"128", "129"}) {
            const auto device = directory.path() / "class/drm" / ("renderD" + std::string(number)) / "device";
            std::filesystem::create_directories(device);
            std::ofstream(device / "vendor") << "0x8086\n";
            std::ofstream(device / "uevent") << "PCI_SLOT_NAME=0000:00:0" << number[2] << ".0\n";
        }
    }
};

struct GpuFixture : GpuMachine {
    GpuFixture() {
        NodePatch change;
        change.gpu_slots = 3;
        change.gpu_encoder_slots = 1;
        wait(gpus.patch("node0", change, "test"));
    }
    Reservation take(const std::string& id, int slots, bool must = false, bool may = false) {
        Instance made = instance(id);
        made.resources.gpu_slots = slots;
        made.needs_gpu_encoder = must;
        made.prefers_gpu_encoder = may;
        const Reservation got = gpus.reserve(made);
        made.node = got.node;
        made.gpus = got.gpus;
        made.gpu_encoder_slots = got.gpu_encoder_slots;
        made.status = InstanceStatus::running;
        taken.push_back(std::make_shared<const Instance>(made));
        return got;
    }
    NodeService gpus{parts(runtime)};  // the second one sees them
    std::vector<std::shared_ptr<const Instance>> taken;
};

}  // namespace

TEST_CASE_METHOD(GpuFixture, "slots of the node are divided over its GPUs") {
    const auto node = gpus.get("node0");
    REQUIRE(node->gpus.size() == 2);
    CHECK(node->gpus[0].slots == 2);
    CHECK(node->gpus[1].slots == 1);
    CHECK(node->gpu_slots == 3);
    NodePatch change;
    change.gpus = {{1, 5, {}}};
    wait(gpus.patch("node0", change, "test"));
    CHECK(gpus.get("node0")->gpu_slots == 7);
    const NodeService again(parts(runtime));
    CHECK(again.get("node0")->gpus[1].slots == 5);
}

TEST_CASE_METHOD(GpuFixture, "an instance with slots gets one GPU, or all") {
    CHECK(take("a", 1).gpus == std::vector<int>{0, 1});
    configure("gpu.allocation_mode", "one");
    CHECK(take("b", 1).gpus == std::vector<int>{1});
    CHECK(take("c", 0).gpus.empty());
    CHECK(take("d", 1).gpus == std::vector<int>{0});
    CHECK(code_of([&] { take("e", 1); }) == ErrorCode::exhausted);
    const Json gpu = gpus.describe(*gpus.get("node0")).at("gpus").as_array().at(1);
    CHECK(gpu.at("allocations").at("b").at("slots").as_int() == 1);
    CHECK(gpu.at("allocations").find("a") == nullptr);
    gpus.release_all(*taken[1]);
    CHECK(take("f", 1).gpus == std::vector<int>{1});
}

TEST_CASE_METHOD(GpuFixture, "encoder slots are needed by some and welcome to others") {
    CHECK(take("a", 0, false, true).gpu_encoder_slots == 1);
    CHECK(take("b", 0, false, true).gpu_encoder_slots == 0);
    CHECK_THAT(message_of([&] { take("c", 0, true); }), Catch::Contains("gpu encoder slots short by 1"));
    gpus.release_all_but_disk(*taken[0]);
    CHECK(take("c", 0, true).gpu_encoder_slots == 1);
}

TEST_CASE_METHOD(GpuFixture, "GPU slots of the last life count in the next") {
    take("a", 2);
    take("b", 0, true);
    NodeService again(parts(runtime));
    again.adopt(taken);
    Instance next = instance("c");
    next.resources.gpu_slots = 2;
    CHECK(code_of([&] { again.reserve(next); }) == ErrorCode::exhausted);
    next.resources.gpu_slots = 1;
    next.prefers_gpu_encoder = true;
    const auto got = again.reserve(next);
    CHECK(got.gpus.front() == 1);
    CHECK(got.gpu_encoder_slots == 0);
}

TEST_CASE_METHOD(Fixture, "the strategy is asked for at each placement") {
    Node other = *service.get("node0");
    other.name = "node1";
    other.cpus = other.cpus * 4;
    nodes.create(other);
    NodeService two(parts(runtime));
    CHECK(two.reserve(instance("a")).node == "node1");
    configure("scheduler.strategy", "binpack");
    CHECK(two.reserve(instance("b")).node == "node1");
    configure("scheduler.strategy", "");
    CHECK(two.reserve(instance("c")).node == "node0");
}

TEST_CASE_METHOD(Fixture, "a second node is known by name or address, and not to be had") {
    NodeCreate create;
    create.name = "node0";
    create.address = "10.1.1.1";
    CHECK(code_of([&] { service.create(create, "test"); }) == ErrorCode::conflict);
    create.name = "node1";
    CHECK(code_of([&] { service.create(create, "test"); }) == ErrorCode::unsupported);
    CHECK(message_of([&] { service.create(create, "test"); }) ==
          "adding node node1: runtime simulated has one node");
    create.address = service.get("node0")->address;
    CHECK(code_of([&] { service.create(create, "test"); }) == ErrorCode::conflict);
}

TEST_CASE_METHOD(Fixture, "a node in use is removed by force alone, with its instances") {
    const Instance held = reserved("a");
    CHECK(code_of([&] { service.remove("node0", {}, "test"); }) == ErrorCode::conflict);
    CHECK(message_of([&] { service.remove("node0", {}, "test"); }) == "node node0 is in use");
    CHECK(code_of([&] { service.remove("other", {}, "test"); }) == ErrorCode::not_found);
    NodeRemoval removal;
    removal.force = true;
    SECTION("they can be deleted") {
        service.on_forced_removal([&](const std::string& node) {
            CHECK(node == "node0");
            CHECK(code_of([&] { service.reserve(instance("late")); }) == ErrorCode::exhausted);
            service.release_all(held);
        });
        CHECK(wait(service.remove("node0", removal, "test"))->err.empty());
        CHECK(service.list().empty());
        CHECK_THAT(message_of([&] { service.reserve(instance("b")); }), Catch::Contains("no nodes"));
        const NodeService again(parts(runtime));
        CHECK(again.get("node0")->status == NodeStatus::online);
    }
    SECTION("they cannot") {
        service.on_forced_removal([](const std::string&) { throw Error(ErrorCode::internal, "no way"); });
        CHECK(wait(service.remove("node0", removal, "test"))->err == "no way");
        CHECK(service.get("node0")->status == NodeStatus::online);
        CHECK_NOTHROW(reserved("b"));
    }
}

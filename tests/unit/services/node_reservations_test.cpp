// Resources that instances reserve on a node, and release.
#include <set>
#include <thread>

#include "libsvc/base/guarded.h"
#include "tests/support/error_code.h"
#include "tests/unit/services/node_fixture.h"

using namespace svc;
using namespace svc::test;

TEST_CASE_METHOD(NodeFixture, "a reservation has the lowest address and ports, ranges in a row") {
    const Instance first = reserved("a", {ports(22, 0), ports(7000, 7002)});
    CHECK(first.address == "10.0.0.2");
    CHECK(first.services[0].node_port == 10000);
    CHECK(first.services[1].node_port == 10001);
    CHECK(first.services[1].node_port_end == 10003);
    CHECK(reserved("b", {ports(22, 0)}).services[0].node_port == 10004);
}

TEST_CASE_METHOD(NodeFixture, "released addresses and ports are used again") {
    const Instance first = reserved("a", {ports(22, 0)});
    service.release_all(first);
    service.release_all(first);
    const Instance second = reserved("b", {ports(22, 0)});
    CHECK(second.address == first.address);
    CHECK(second.services[0].node_port == 10000);
}

TEST_CASE_METHOD(NodeFixture, "cpus are overcommitted up to the rate") {
    for (const char* id : {"a", "b", "c", "d"}) reserved(id);
    CHECK(code_of([&] { reserved("e"); }) == ErrorCode::exhausted);
    CHECK_THAT(message_of([&] { reserved("e"); }),
               Catch::StartsWith("No suitable node to satisfy container requirement available"));
}

TEST_CASE_METHOD(NodeFixture, "the disk of a stopped instance stays reserved until it is removed") {
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

TEST_CASE_METHOD(NodeFixture, "a stopped instance starts where its disk is, without a second one") {
    nodes.update("node0", [](Node& node) { node.disk_size = 3 * gigabyte; });
    const Instance stopped = reserved("a");
    service.release_all_but_disk(stopped);
    CHECK(service.reserve(stopped).node == "node0");
}

TEST_CASE_METHOD(NodeFixture, "no port and no address left have texts of their own") {
    reserved("a", {ports(100, 108)});
    CHECK(message_of([&] { reserved("b", {ports(100, 101)}); }) == "no free port available");
    service.stop();  // it would set the record to what its own machine has
    SimulatedOptions small = machine();
    small.subnet = "10.0.0.1/30";
    SimulatedRuntime small_runtime(clock, small);
    MoreNodes small_service(parts(small_runtime));
    small_service.reserve(instance("a"));
    CHECK(message_of([&] { small_service.reserve(instance("b")); }) == "no free address available");
}

TEST_CASE_METHOD(NodeFixture, "a node whose bridge has no port left takes no instance") {
    nodes.update("node0", [](Node& node) { node.details = Json::object({{"bridge_ports", 2}}); });
    const Instance first = reserved("a");
    reserved("b");
    const std::string full = "no free port of a bridge available";
    CHECK(message_of([&] { service.reserve(instance("c")); }) == full);
    nodes.update("node0", [](Node& node) { node.tags = {"other"}; });
    CHECK(message_of([&] { service.reserve(instance("c")); }) == full);
    service.release_all_but_disk(first);
    CHECK_NOTHROW(reserved("c"));
    CHECK(message_of([&] { service.reserve(first); }) == full);
}

TEST_CASE_METHOD(NodeFixture, "a failed reservation of ports gives the address back") {
    CHECK(code_of([&] { reserved("a", {ports(1, 8), ports(20, 28)}); }) == ErrorCode::exhausted);
    CHECK(reserved("b").address == "10.0.0.2");
}

TEST_CASE_METHOD(NodeFixture, "what the records hold is adopted at the start") {
    const auto running = std::make_shared<Instance>(reserved("a", {ports(22, 0)}));
    auto stopped = std::make_shared<Instance>(instance("b"));
    stopped->node = "node0";
    stopped->status = InstanceStatus::stopped;
    MoreNodes again(parts(runtime));
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

TEST_CASE_METHOD(NodeFixture, "concurrent reservations never oversubscribe nor share an address") {
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

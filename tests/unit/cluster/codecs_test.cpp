// Values of the runtime's seam on their way between managers.
#include "libsvc/cluster/node/codecs.h"

#include <catch2/catch.hpp>

#include "libsvc/cluster/node/parts.h"
#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::test;

namespace {

Json passed(const Json& json) {
    return Json::parse(json.dump());
}

ContainerSpec full_spec() {
    ContainerSpec spec;
    spec.id = "c1";
    spec.node = "m2";
    spec.name = "svc-c1";
    spec.layers = {"base", "top"};
    spec.cpus = 1.5;
    spec.memory_bytes = std::uint64_t{5} << 30;
    spec.disk_bytes = std::uint64_t{6} << 30;
    spec.processes = 99;
    spec.address = "10.0.0.2";
    spec.forwards = {{22, 10022, 3, true, false, true}, {53, 10053, 1, false, true, false}};
    spec.allowed_endpoints = {{"10.0.0.1", 8444, true, true}};
    spec.files = {{"/etc/secret", std::string("\0\xff", 2), 0600}};
    spec.init = "/init";
    spec.run_agent = false;
    spec.boot_by_agent = true;
    spec.pin_cpus = true;
    spec.gpus = {"D128", "D129"};
    spec.android = true;
    return spec;
}

}  // namespace

TEST_CASE("a specification arrives whole") {
    const ContainerSpec sent = full_spec();
    const ContainerSpec got = node::spec_from_json(passed(node::to_json(sent)));
    CHECK(node::to_json(got) == node::to_json(sent));
    CHECK(got.forwards == sent.forwards);
    CHECK(got.allowed_endpoints == sent.allowed_endpoints);
    CHECK(got.files.at(0).content == sent.files.at(0).content);
    CHECK(got.files.at(0).mode == 0600);
    CHECK(got.layers == sent.layers);
    CHECK(got.memory_bytes == sent.memory_bytes);
    CHECK_FALSE(got.run_agent);
    CHECK(got.boot_by_agent);
    CHECK(got.pin_cpus);
    CHECK(got.gpus == sent.gpus);
    CHECK(got.android);
}

TEST_CASE("what is told of a container arrives, but for the pid") {
    ContainerInfo info;
    info.id = "c1";
    info.node = "m2";
    info.state = ContainerState::unreadable;
    info.started_at = from_rfc3339("2024-01-02T03:04:05.678901234Z");
    info.init_pid = 77;
    info.agent_state = "restarting";
    info.fault = "disk is gone";
    info.specification_lost = true;
    const ContainerInfo got = node::info_from_json(passed(node::to_json(info)));
    CHECK(got.id == "c1");
    CHECK(got.node == "m2");
    CHECK(got.state == ContainerState::unreadable);
    CHECK(got.started_at == info.started_at);
    CHECK(got.init_pid == 0);
    CHECK(got.agent_state == "restarting");
    CHECK(got.fault == "disk is gone");
    CHECK(got.specification_lost);
}

TEST_CASE("usage keeps what is not known apart from nothing used") {
    ContainerUsage usage;
    usage.id = "c1";
    usage.cpu_user_seconds = 0.0;
    usage.memory_bytes = 0;
    usage.network = {{"eth0", {1, 2, 3, 4}, {5, 6, 7, 8}}};
    const ContainerUsage got = node::usage_from_json(passed(node::to_json(usage)));
    CHECK(got.cpu_user_seconds == 0.0);
    CHECK(got.memory_bytes == std::uint64_t{0});
    CHECK_FALSE(got.memory_limit_bytes);
    REQUIRE(got.network.size() == 1);
    CHECK(got.network[0].device == "eth0");
    CHECK(got.network[0].received.dropped == 4);
    CHECK(got.network[0].sent.bytes == 5);
}

TEST_CASE("capacity and commands arrive whole") {
    Capacity capacity;
    capacity.runtime = "lxc";
    capacity.cpus = 8;
    capacity.disk_bytes = std::uint64_t{1} << 50;
    capacity.subnet = "192.168.100.1/20";
    capacity.bridge_mtu = 1400;
    capacity.disk_limit_enforced = true;
    capacity.android_fault = "the kernel has no binder";
    capacity.details = Json::object({{"kernel", "6.1"}});
    const Json sent = node::to_json(capacity);
    CHECK(node::to_json(node::capacity_from_json(passed(sent))) == sent);
    const ExecSpec spec{{"sh", "-c", "x"}, {{"A", "b"}}, true, 120, 50};
    const ExecSpec got = node::exec_from_json(passed(node::to_json(spec)));
    CHECK(got.command == spec.command);
    CHECK(got.environment == spec.environment);
    CHECK(got.terminal);
    CHECK(got.width == 120);
    CHECK(got.height == 50);
}

TEST_CASE("a machine arrives with its GPUs; a manager that does not tell of them has none") {
    RuntimeNode machine;
    machine.name = "m2";
    machine.capacity.cpus = 8;
    machine.capacity.gpus = {{"nvidia", "00:08.0", "D128", 1}, {"intel", "00:02.0", "D129", -1}};
    const Json sent = passed(node::to_json(machine));
    CHECK(node::runtime_node_from_json(sent).capacity.gpus == machine.capacity.gpus);
    const RuntimeNode older = node::runtime_node_from_json(
        Json::parse(R"({"name": "m2", "online": true, "capacity": {"runtime": "lxc", "cpus": 8}})"));
    CHECK(older.capacity.cpus == 8);
    CHECK(older.capacity.gpus.empty());
}

TEST_CASE("every error keeps its code and its text") {
    for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
        const Error error(static_cast<ErrorCode>(i), "something of 'x'");
        const Error got = node::error_from_json(passed(node::to_json(error)));
        CHECK(got.code() == error.code());
        CHECK(std::string(got.what()) == error.what());
    }
}

TEST_CASE("a message of any length arrives in parts") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, node::part_bytes, node::part_bytes * 2 + 5}) {
        const std::string message(size, 'x');
        node::PartReader reader;
        std::optional<std::string> whole;
        std::size_t parts = 0;
        node::send_in_parts(message, [&](const std::string& part) {
            CHECK_FALSE(whole);
            CHECK(part.size() <= node::part_bytes + 1);
            whole = reader.take(part);
            ++parts;
        });
        CHECK(whole == message);
        CHECK(parts == std::max<std::size_t>(1, (size + node::part_bytes - 1) / node::part_bytes));
    }
}

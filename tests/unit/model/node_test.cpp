#include "libsvc/model/node.h"

#include <catch2/catch.hpp>

#include "tests/support/golden.h"
#include "tests/unit/model/record_checks.h"

namespace svc {
namespace {

Node sample() {
    Node node;
    node.name = "node0";
    node.address = "10.0.0.1";
    node.public_address = "203.0.113.5";
    node.bridge_mtu = 1450;
    node.cpus = 8;
    node.configured_cpus = 4;
    node.cpu_allocation_rate = 2.5;
    node.memory = 16ULL << 30;
    node.configured_memory = 3ULL << 30;
    node.memory_allocation_rate = 1.5;
    node.status = NodeStatus::offline;
    node.is_master = false;
    node.disk_size = 21ULL << 30;
    node.gpu_slots = 2;
    node.gpu_encoder_slots = 1;
    node.tags = {"fast"};
    node.unschedulable = true;
    node.architecture = "aarch64";
    node.storage_pool = "pool1";
    node.managed = false;
    node.subnet = "192.168.100.1/20";
    node.runtime = "lxc";
    node.disk_limit_enforced = true;
    node.details = Json::object({{"kernel", "6.1"}});
    return node;
}

TEST_CASE("the record of a node") {
    test::check_golden("unit/model/golden/node.json", to_json(sample()));
}

TEST_CASE(
    "a node shows what was detected where nothing is configured, and leaves out an unknown architecture") {
    Node node;
    node.name = "node0";
    node.address = "10.0.0.1";
    node.cpus = 8;
    node.memory = 16ULL << 30;
    const Json record = to_json(node);
    CHECK(record.at("cpus").as_int() == 8);
    CHECK(record.at("memory").as_string() == "16GB");
    CHECK(record.at("public_address").as_string() == "10.0.0.1");
    CHECK(record.find("architecture") == nullptr);
    CHECK(record.at("cpu_allocation_rate").as_double() == 4);
    CHECK(record.at("memory_allocation_rate").as_double() == 2);
    CHECK(record.at("storage_pool").as_string() == "svc0");
}

TEST_CASE("a node is stored whole and read back") {
    test::check_golden("unit/model/golden/node_stored.json", node_to_store(sample()));
    const Json stored = Json::parse(test::read_golden("unit/model/golden/node_stored.json"));
    CHECK(node_to_store(node_from_store(stored)) == stored);
    CHECK(to_json(node_from_store(stored)) == to_json(sample()));
}

TEST_CASE("a stored node is checked member by member") {
    test::check_members(node_to_store(sample()), {"name", "status"}, {"details"}, node_from_store);
}

TEST_CASE("every node status has its text") {
    const auto [code, text] = GENERATE(table<int, const char*>({{-1, "error"},
                                                                {0, "unknown"},
                                                                {1, "created"},
                                                                {2, "initializing"},
                                                                {3, "initialized"},
                                                                {4, "online"},
                                                                {5, "offline"},
                                                                {6, "deleted"}}));
    CHECK(to_text(static_cast<NodeStatus>(code)) == text);
}

}  // namespace
}  // namespace svc

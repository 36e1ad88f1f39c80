#include "libsvc/model/cluster/node.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

Node sample_node() {
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
    node.evacuated = true;
    node.architecture = "aarch64";
    node.storage_pool = "pool1";
    node.storage_device = "/dev/sdb";
    node.managed = false;
    node.subnet = "192.168.100.1/20";
    node.runtime = "lxc";
    node.disk_limit_enforced = true;
    node.details = Json::object({{"kernel", "6.1"}});
    return node;
}

TEST_CASE("the record of a node") {
    test::check_golden("unit/model/golden/node.json", to_json(sample_node()));
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

TEST_CASE("a node is stored whole, read back and checked") {
    test::check_record_codec<Node>(
        {"node_stored.json", sample_node(), node_to_store, node_from_store, {"name", "status"}, {"details"}});
    CHECK(to_json(node_from_store(node_to_store(sample_node()))) == to_json(sample_node()));
}

TEST_CASE("the GPUs of a node show who holds them") {
    Node node = sample_node();
    node.gpus = {{0, "amd", "00:08.0", "D128", 10, 2, 0}, {1, "amd", "00:09.0", "D129", 10, 0, -1}};
    const Json gpus = to_json(node, {{"c08p730j1qm6t2783da0", 0, 3, 1}}).at("gpus");
    CHECK(gpus.as_array().at(0) ==
          Json::parse(R"({"id":0,"type":"amd","pci_address":"00:08.0","render_name":"D128","slots":10,
                          "encoder_slots":2,"numa_node":0,
                          "allocations":{"c08p730j1qm6t2783da0":{"gpus":[0],"slots":3,"encoder_slots":1}}})"));
    CHECK(gpus.as_array().at(1).find("numa_node") == nullptr);
    CHECK(gpus.as_array().at(1).at("allocations") == Json::object());
    const Node read = node_from_store(node_to_store(node));
    CHECK(to_json(read) == to_json(node));
    CHECK(read.gpus.at(1).numa_node == -1);
}

TEST_CASE("the entity tag of a node follows what may be changed") {
    Node node = sample_node();
    const std::string before = etag_text(node);
    node.status = NodeStatus::online;
    node.memory += 1;
    CHECK(etag_text(node) == before);
    node.tags.push_back("more");
    CHECK(etag_text(node) != before);
}

TEST_CASE("a change of a node") {
    const NodePatch patch = NodePatch::from_json(Json::parse(
        R"({"public_address":"203.0.113.9","cpus":0,"cpu_allocation_rate":0.5,"memory":"8GB","memory_allocation_rate":100,
            "gpu_slots":0,"gpu_encoder_slots":4,"tags":"a, b","unscheduable":true,"unschedulable":false,
            "gpus":[{"id":1,"slots":3,"encoder-slots":2}]})"));
    CHECK(patch.public_address == "203.0.113.9");
    CHECK(patch.cpus == 0);
    CHECK(patch.cpu_allocation_rate == 0.5);
    CHECK(patch.memory == std::uint64_t{8} << 30);
    CHECK(patch.memory_allocation_rate == 100);
    CHECK(patch.gpu_slots == 0);
    CHECK(patch.gpu_encoder_slots == 4);
    CHECK(patch.tags == std::vector<std::string>{"a", "b"});
    CHECK(patch.unschedulable == true);
    CHECK(patch.gpus.at(0).slots == 3);
    CHECK(patch.gpus.at(0).encoder_slots == 2);
    CHECK(NodePatch::from_json(Json::parse(R"({"tags":["x"],"unschedulable":true})")).unschedulable == true);
    CHECK(NodePatch::from_json(Json::parse(R"({"tags":""})")).tags->empty());
    CHECK(NodePatch::from_json(Json::parse(R"({"memory":""})")).memory == 0);
    CHECK_FALSE(NodePatch::from_json(Json::object()).tags);
}

TEST_CASE("each field of a node's change is checked") {
    test::check_codec(NodePatch::from_json, test::all_refused({R"([])",
                                                               R"({"public_address":1})",
                                                               R"({"public_address":"a b"})",
                                                               R"({"public_address":"10.0.0"})",
                                                               R"({"cpus":-1})",
                                                               R"({"cpus":"4"})",
                                                               R"({"cpus":3000000000})",
                                                               R"({"cpu_allocation_rate":0})",
                                                               R"({"cpu_allocation_rate":101})",
                                                               R"({"cpu_allocation_rate":"2"})",
                                                               R"({"memory":"8 GB"})",
                                                               R"({"memory":-1})",
                                                               R"({"memory":true})",
                                                               R"({"memory_allocation_rate":-1})",
                                                               R"({"gpu_slots":-1})",
                                                               R"({"gpu_encoder_slots":1.5})",
                                                               R"({"tags":5})",
                                                               R"({"tags":[""]})",
                                                               R"({"tags":["a,b"]})",
                                                               R"({"tags":"a,,b"})",
                                                               R"({"unscheduable":"yes"})",
                                                               R"({"gpus":{}})",
                                                               R"({"gpus":[{"slots":1}]})",
                                                               R"({"gpus":[{"id":0},{"id":0}]})",
                                                               R"({"gpus":[{"id":0,"slots":-1}]})"}));
}

TEST_CASE("a new node") {
    const NodeCreate least = NodeCreate::from_json(Json::parse(R"({"name":"node1","address":"10.0.0.12"})"));
    CHECK(least.bridge_mtu == 1500);
    CHECK(least.cpu_allocation_rate == 4);
    CHECK(least.memory_allocation_rate == 2);
    CHECK(least.network_name == "svcbr0");
    CHECK(least.network_subnet == "192.168.100.1/20");
    CHECK_FALSE(least.gpu_slots);
    const NodeCreate most = NodeCreate::from_json(Json::parse(
        R"({"name":"node1","address":"node1.example.com:8443","public_address":"203.0.113.9","trust_password":"pw",
            "trust-token":"t","network_bridge_mtu":1400,"storage_device":"/dev/sdb","cpus":4,"cpu_allocation_rate":2,
            "memory":"8GB","memory_allocation_rate":1,"gpu_slots":3,"gpu_encoder_slots":0,"tags":["zone=b"],
            "unmanaged":true,"network_name":"br1","network_subnet":"10.1.0.1/16"})"));
    CHECK(most.address == "node1.example.com:8443");
    CHECK(most.trust_token == "t");
    CHECK(most.bridge_mtu == 1400);
    CHECK(most.memory == std::uint64_t{8} << 30);
    CHECK(most.gpu_slots == 3);
    CHECK_FALSE(most.gpu_encoder_slots);
    CHECK(most.tags == std::vector<std::string>{"zone=b"});
    CHECK(most.unmanaged);
    for (const char* address : {"::1", "[fd00::1]:8443", "[fd00::1]", "host", "10.0.0.1:1"}) {
        INFO(address);
        CHECK_NOTHROW(NodeCreate::from_json(Json::object({{"name", "n"}, {"address", address}})));
    }
}

TEST_CASE("each field of a new node is checked") {
    const char* const least = R"({"name":"n","address":"10.0.0.1","storage_device":"/dev/sdb"})";
    test::check_codec(
        NodeCreate::from_json,
        {
            {test::with_member(least, "name", "null"), test::is_refused},
            {test::with_member(least, "name", R"("a.b")"), test::is_refused},
            {test::with_member(least, "address", "null"), test::is_refused},
            {test::with_member(least, "address", R"("")"), test::is_refused},
            {test::with_member(least, "address", R"("10.0.0.300")"), test::is_refused},
            {test::with_member(least, "address", R"("host:0")"), test::is_refused},
            {test::with_member(least, "address", R"("host:99999")"), test::is_refused},
            {test::with_member(least, "address", R"("a_b")"), test::is_refused},
            {test::with_member(least, "address", R"("[::1")"), test::is_refused},
            {test::with_member(least, "public_address", R"("host:80")"), test::is_refused},
            {test::with_member(least, "network_bridge_mtu", "575"), test::is_refused},
            {test::with_member(least, "network_bridge_mtu", "65536"), test::is_refused},
            {test::with_member(least, "network_subnet", R"("8.8.8.1/24")"), test::is_refused},
            {test::with_member(least, "network_subnet", R"("10.0.0.1")"), test::is_refused},
            {test::with_member(least, "network_subnet", R"("10.0.0.1/31")"), test::is_refused},
            {test::with_member(least, "network_subnet", R"("10.0.0.1/7")"), test::is_refused},
            {test::with_member(least, "network_name", R"("much-too-long-a-name")"), test::is_refused},
            {test::with_member(least, "storage_pool", R"("pool")"), test::is_refused},
            {test::with_member(least, "cpu_allocation_rate", "-1"), test::is_refused},
            {test::with_member(least, "memory_allocation_rate", "100.5"), test::is_refused},
            {test::with_member(least, "tags", R"(["a,b"])"), test::is_refused},
            {test::with_member(least, "unmanaged", "1"), test::is_refused},
        });
}

TEST_CASE("the removal of a node") {
    CHECK_FALSE(NodeRemoval::from_json(Json()).force);
    CHECK_FALSE(NodeRemoval::from_json(Json::object()).keep_in_cluster);
    const auto removal = NodeRemoval::from_json(Json::parse(R"({"force":true,"keep_in_cluster":true})"));
    CHECK(removal.force);
    CHECK(removal.keep_in_cluster);
    test::check_codec(NodeRemoval::from_json, {{R"({"force":1})", test::is_refused}});
}

TEST_CASE("every node status has its text") {
    const auto [code, text] = GENERATE(table<int, const char*>({{-1, "error"},
                                                                {0, "unknown"},
                                                                {1, "created"},
                                                                {2, "initializing"},
                                                                {3, "initialized"},
                                                                {4, "online"},
                                                                {5, "offline"},
                                                                {6, "deleted"},
                                                                {7, "evacuated"}}));
    CHECK(to_text(static_cast<NodeStatus>(code)) == text);
}

}  // namespace
}  // namespace svc

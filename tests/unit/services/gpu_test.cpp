#include <catch2/catch.hpp>

#include "libsvc/services/nodes/gpu_ledger.h"
#include "libsvc/services/nodes/gpu_slots.h"

using namespace svc;

namespace {

Gpu gpu(int id, int slots, int encoder_slots) {
    Gpu made;
    made.id = id;
    made.type = "intel";
    made.slots = slots;
    made.encoder_slots = encoder_slots;
    return made;
}

const std::vector<Gpu> pair{gpu(0, 2, 1), gpu(1, 2, 1)};

}  // namespace

TEST_CASE("a GPU that is new has the slots of its type, the others keep theirs") {
    Node node;
    take_gpus(node, {{"intel", "00:02.0", "D129", 1}, {"amd", "00:03.0", "D130", -1}});
    REQUIRE(node.gpus.size() == 2);
    CHECK(node.gpus[0].render_name == "D129");
    CHECK(node.gpus[0].slots == 10);
    CHECK(node.gpus[0].encoder_slots == 10);
    CHECK(node.gpus[0].numa_node == 1);
    CHECK(node.gpus[1].id == 1);
    CHECK(node.gpus[1].slots == 10);
    CHECK(node.gpus[1].encoder_slots == 0);
    node.gpus[1].slots = 3;
    take_gpus(node, {{"nvidia", "00:02.0", "D129", 1}, {"amd", "00:03.0", "D131", -1}});
    CHECK(node.gpus[0].slots == 32);
    CHECK(node.gpus[1].slots == 3);
    CHECK(node.gpus[1].render_name == "D131");
    take_gpus(node, {});
    CHECK(node.gpus.empty());
}

TEST_CASE("without a GPU the type says how many slots there are, unless a user did") {
    const Node none;
    CHECK(with_gpu_type(none, "none").gpu_slots == 0);
    CHECK(with_gpu_type(none, "nvidia").gpu_slots == 32);
    CHECK(with_gpu_type(none, "amd").gpu_encoder_slots == 0);
    Node set;
    set.gpu_slots = 3;
    set.gpu_slots_set = true;
    CHECK(with_gpu_type(set, "nvidia").gpu_slots == 3);
    CHECK(with_gpu_type(set, "nvidia").gpu_encoder_slots == 0);
}

TEST_CASE("of several GPUs those of the type count") {
    Node node;
    node.gpus = pair;
    node.gpus[1].type = "amd";
    node.gpus[1].slots = 7;
    CHECK(with_gpu_type(node, "none").gpu_slots == 9);
    CHECK(with_gpu_type(node, "amd").gpu_slots == 7);
    CHECK(with_gpu_type(node, "amd").gpus.size() == 1);
}

TEST_CASE("the least used GPU is taken first") {
    GpuLedger ledger;
    CHECK(ledger.take("a", {1, 1}, pair) == std::vector<int>{0});
    CHECK(ledger.take("b", {1, 1}, pair) == std::vector<int>{1});
    CHECK(ledger.take("c", {1, 0}, pair) == std::vector<int>{0});
    ledger.release("a");
    CHECK(ledger.take("d", {0, 1}, pair) == std::vector<int>{0});
    CHECK(ledger.allocations().size() == 3);
}

TEST_CASE("what fits nowhere as a whole is spread") {
    GpuLedger ledger;
    CHECK(ledger.take("a", {1, 0}, pair) == std::vector<int>{0});
    CHECK(ledger.take("b", {3, 0}, pair) == std::vector<int>{1, 0});
    const auto all = ledger.allocations();
    REQUIRE(all.size() == 3);
    CHECK(all[1].instance == "b");
    CHECK(all[1].slots == 2);
    CHECK(all[2].slots == 1);
    ledger.release("b");
    ledger.release("b");
    CHECK(ledger.take("c", {2, 0}, pair) == std::vector<int>{1});
}

TEST_CASE("what records hold is adopted, fit or not") {
    GpuLedger ledger;
    ledger.adopt("a", {3, 1}, pair, {1});
    const auto all = ledger.allocations();
    int slots = 0;
    for (const GpuAllocation& allocation : all) {
        CHECK(allocation.gpu == 1);
        slots += allocation.slots;
    }
    CHECK(slots == 3);
    CHECK(ledger.take("b", {1, 0}, pair) == std::vector<int>{0});
    ledger.adopt("c", {1, 0}, pair, {7});
    CHECK(ledger.allocations().size() == all.size() + 1);
}

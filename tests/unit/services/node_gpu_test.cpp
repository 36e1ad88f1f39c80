// Slots and encoders of the GPUs of a node.
#include <fstream>

#include "tests/support/error_code.h"
#include "tests/unit/services/node_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct GpuMachine : NodeFixture {
    GpuMachine() {
        for (const char* number : {"128", "129"}) {
            const auto device =
                directory.path() / "sys/class/drm" / ("renderD" + std::string(number)) / "device";
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
    MoreNodes gpus{parts(runtime)};  // the second one sees them
    std::vector<std::shared_ptr<const Instance>> taken;
};

}  // namespace

TEST_CASE_METHOD(NodeFixture, "gpu slots are a number where no GPU shows, by type or by hand") {
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
    const MoreNodes again(parts(runtime));
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
    MoreNodes again(parts(runtime));
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

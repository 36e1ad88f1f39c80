// GPUs of several machines: each tells of its own, whoever leads.
#include <fstream>

#include "tests/unit/services/cluster_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct GpuMachines : ClusterFixture {
    GpuMachines() {
        add_gpu("m2", "renderD128", "0x10de");
        add_gpu("m3", "renderD128", "0x8086");
        add_gpu("m3", "renderD129", "0x8086");
        nodes().follow();
    }
    void add_gpu(const std::string& machine, const std::string& name, const char* vendor) const {
        const auto device = directory.path() / "sys" / machine / "class/drm" / name / "device";
        std::filesystem::create_directories(device);
        std::ofstream(device / "vendor") << vendor << "\n";
        std::ofstream(device / "uevent") << "PCI_SLOT_NAME=0000:00:" << name.substr(7) << ".0\n";
    }
    std::vector<std::string> types_of(const std::string& node) {
        std::vector<std::string> all;
        for (const Gpu& gpu : life->nodes.get(node)->gpus) all.push_back(gpu.type);
        return all;
    }
    InstanceCreate with_slots(int slots, const std::string& node = "") {
        InstanceCreate create = request();
        create.node = node;
        create.gpu_slots = slots;
        return create;
    }
};

}  // namespace

TEST_CASE_METHOD(GpuMachines, "each node has the GPUs of its own machine") {
    CHECK(types_of("m1").empty());
    CHECK(types_of("m2") == std::vector<std::string>{"nvidia"});
    CHECK(types_of("m3") == std::vector<std::string>{"intel", "intel"});
    CHECK(nodes().get("m2")->gpu_slots == 32);
    CHECK(nodes().get("m3")->gpu_slots == 20);
}

TEST_CASE_METHOD(GpuMachines,
                 "slots of a GPU are placed where there is one, and on the node that is asked for") {
    CHECK(node_of(launched(with_slots(25))) == "m2");
    CHECK(node_of(launched(with_slots(1, "m3"))) == "m3");
    CHECK_THAT(wait(launch(with_slots(1, "m1")))->err, Catch::Contains("gpu slots"));
}

TEST_CASE_METHOD(GpuMachines, "the GPUs of its node enter an instance with slots: all of them, or one") {
    launched(with_slots(1, "m3"));
    CHECK(runtime.last_spec().gpus == std::vector<std::string>{"D128", "D129"});
    configure("gpu.allocation_mode", "one");
    launched(with_slots(1, "m3"));
    CHECK(runtime.last_spec().gpus == std::vector<std::string>{"D129"});
    launched(with_slots(0, "m3"));
    CHECK(runtime.last_spec().gpus.empty());
}

TEST_CASE_METHOD(GpuMachines, "slots that a user has given stay while the machine is away") {
    NodePatch change;
    change.gpus = {{1, 5, {}}};
    REQUIRE(wait(nodes().patch("m3", change, "test"))->err.empty());
    switch_off("m3");
    CHECK(nodes().get("m3")->gpu_slots == 15);
    switch_on("m3");
    CHECK(nodes().get("m3")->gpu_slots == 15);
}

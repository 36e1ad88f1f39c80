#include "libsvc/runtime/machine_gpus.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "libsvc/base/file.h"

using namespace svc;

namespace {

struct Sysfs {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-sysfs-"};
    void add(const std::string& name, const std::string& vendor, const std::string& address,
             const std::string& numa = "") const {
        const auto device = directory.path() / "class/drm" / name / "device";
        std::filesystem::create_directories(device);
        std::ofstream(device / "vendor") << vendor << "\n";
        std::ofstream(device / "uevent") << "DRIVER=x\nPCI_SLOT_NAME=" << address << "\n";
        if (!numa.empty()) std::ofstream(device / "numa_node") << numa << "\n";
    }
    std::vector<MachineGpu> probe() const { return find_gpus(directory.path()); }
};

}  // namespace

TEST_CASE_METHOD(Sysfs, "render devices of known vendors are GPUs, in the order of their addresses") {
    CHECK(probe().empty());
    add("card0", "0x8086", "0000:00:02.0");
    add("renderD129", "0x8086", "0000:00:02.0", "1");
    add("renderD128", "0x10de", "0001:0a:00.0");
    add("renderD130", "0x1002", "0000:00:03.0");
    add("renderD131", "0x1af4", "0000:00:04.0");
    std::filesystem::create_directories(directory.path() / "class/drm/renderD132");
    const auto gpus = probe();
    REQUIRE(gpus.size() == 3);
    CHECK(gpus[0].type == "intel");
    CHECK(gpus[0].pci_address == "00:02.0");
    CHECK(gpus[0].render_name == "D129");
    CHECK(gpus[0].numa_node == 1);
    CHECK(gpus[1].type == "amd");
    CHECK(gpus[1].numa_node == -1);
    CHECK(gpus[2].type == "nvidia");
    CHECK(gpus[2].pci_address == "0001:0a:00.0");
}

#pragma once
// The GPUs of a machine, read from its sysfs.
#include <filesystem>
#include <string>
#include <vector>

namespace svc {

struct MachineGpu {
    std::string type;         // "nvidia", "amd", "intel"
    std::string pci_address;  // "00:08.0"
    std::string render_name;  // "D128"
    int numa_node = -1;       // -1: not known
    bool operator==(const MachineGpu&) const = default;
};

// Render devices below `<sysfs>/class/drm`, in the order of their PCI addresses. Devices of unknown vendors
// and devices that cannot be read are left out.
std::vector<MachineGpu> find_gpus(const std::filesystem::path& sysfs);

}  // namespace svc

#include "libsvc/runtime/machine_gpus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::string_view render_prefix = "render";

struct Vendor {
    std::string_view pci_id;
    std::string_view type;
};
constexpr std::array<Vendor, 3> vendors{{{"0x10de", "nvidia"}, {"0x1002", "amd"}, {"0x8086", "intel"}}};

// One line of a file of sysfs; "" when it cannot be read.
std::string line_of(const std::filesystem::path& file) {
    try {
        const std::string text = read_file(file);
        return text.substr(0, text.find('\n'));
    } catch (const Error&) {
        return {};
    }
}

// "00:02.0" of "PCI_SLOT_NAME=0000:00:02.0": domain 0000 is left out.
std::string pci_address(const std::filesystem::path& device) {
    constexpr std::string_view key = "PCI_SLOT_NAME=";
    constexpr std::string_view usual_domain = "0000:";
    std::string text;
    try {
        text = read_file(device / "uevent");
    } catch (const Error&) {
        return {};
    }
    for (const std::string& line : split(text, '\n')) {
        if (!line.starts_with(key)) continue;
        const std::string address = line.substr(key.size());
        return address.starts_with(usual_domain) ? address.substr(usual_domain.size()) : address;
    }
    return {};
}

int numa_node(const std::filesystem::path& device) {
    const std::string text = line_of(device / "numa_node");
    int node = -1;
    std::from_chars(text.data(), text.data() + text.size(), node);
    return node;
}

std::optional<MachineGpu> gpu_at(const std::filesystem::path& entry) {
    const std::string name = entry.filename();
    if (!name.starts_with(render_prefix)) return std::nullopt;
    const std::filesystem::path device = entry / "device";
    const auto vendor = std::ranges::find(vendors, line_of(device / "vendor"), &Vendor::pci_id);
    if (vendor == vendors.end()) return std::nullopt;
    return MachineGpu{std::string(vendor->type), pci_address(device), name.substr(render_prefix.size()),
                      numa_node(device)};
}

}  // namespace

std::vector<MachineGpu> find_gpus(const std::filesystem::path& sysfs) {
    std::vector<MachineGpu> gpus;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(sysfs / "class" / "drm", absent))
        if (auto gpu = gpu_at(entry.path())) gpus.push_back(std::move(*gpu));
    // Shorter addresses are of domain 0000, which comes first.
    std::ranges::sort(gpus, {}, [](const MachineGpu& gpu) {
        return std::tuple(gpu.pci_address.size(), gpu.pci_address, gpu.render_name);
    });
    return gpus;
}

}  // namespace svc

#include "libsvc/services/nodes/gpu_probe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::string_view render_prefix = "render";

struct GpuType {
    std::string_view name;
    std::string_view pci_vendor;
    int slots;
    int encoder_slots;
};
constexpr std::array<GpuType, 3> probed_gpu_types{
    {{"nvidia", "0x10de", 32, 32}, {"amd", "0x1002", 10, 0}, {"intel", "0x8086", 10, 10}}};

const GpuType* type_named(std::string_view name) {
    const auto found = std::ranges::find(probed_gpu_types, name, &GpuType::name);
    return found == probed_gpu_types.end() ? nullptr : &*found;
}

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

std::optional<Gpu> gpu_at(const std::filesystem::path& entry) {
    const std::string name = entry.filename();
    if (!name.starts_with(render_prefix)) return std::nullopt;
    const std::filesystem::path device = entry / "device";
    const auto type = std::ranges::find(probed_gpu_types, line_of(device / "vendor"), &GpuType::pci_vendor);
    if (type == probed_gpu_types.end()) return std::nullopt;
    Gpu gpu;
    gpu.type = type->name;
    gpu.pci_address = pci_address(device);
    gpu.render_name = name.substr(render_prefix.size());
    gpu.slots = type->slots;
    gpu.encoder_slots = type->encoder_slots;
    gpu.numa_node = numa_node(device);
    return gpu;
}

}  // namespace

int default_gpu_slots(std::string_view type) {
    const GpuType* const known = type_named(type);
    return known == nullptr ? 0 : known->slots;
}

int default_gpu_encoder_slots(std::string_view type) {
    const GpuType* const known = type_named(type);
    return known == nullptr ? 0 : known->encoder_slots;
}

std::vector<Gpu> probe_gpus(const std::filesystem::path& sysfs) {
    std::vector<Gpu> gpus;
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(sysfs / "class" / "drm", absent))
        if (auto gpu = gpu_at(entry.path())) gpus.push_back(std::move(*gpu));
    // Shorter addresses are of domain 0000, which comes first.
    std::ranges::sort(gpus, {}, [](const Gpu& gpu) {
        return std::tuple(gpu.pci_address.size(), gpu.pci_address, gpu.render_name);
    });
    for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].id = static_cast<int>(i);
    return gpus;
}

Node with_gpu_type(Node node, std::string_view gpu_type) {
    if (gpu_type != "none") std::erase_if(node.gpus, [&](const Gpu& gpu) { return gpu.type != gpu_type; });
    if (node.gpus.empty()) {
        if (node.gpu_slots_set) return node;
        node.gpu_slots = default_gpu_slots(gpu_type);
        node.gpu_encoder_slots = default_gpu_encoder_slots(gpu_type);
        return node;
    }
    node.gpu_slots = node.gpu_encoder_slots = 0;
    for (const Gpu& gpu : node.gpus) {
        node.gpu_slots += gpu.slots;
        node.gpu_encoder_slots += gpu.encoder_slots;
    }
    return node;
}

}  // namespace svc

#pragma once
// The GPUs of a machine, read from its sysfs, and how many instances may share one.
#include <filesystem>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"

namespace svc {

// Default slots of one GPU of a type; 0 for "none" and for unknown types.
int default_gpu_slots(std::string_view type);
int default_gpu_encoder_slots(std::string_view type);

// Render devices below `<sysfs>/class/drm`, in the order of their PCI addresses, with default slots. Devices
// of unknown vendors and devices that cannot be read are left out.
std::vector<Gpu> probe_gpus(const std::filesystem::path& sysfs);

// The node as placement and clients see it while gpu.type is `gpu_type`: with the GPUs of that type alone
// (all of them for "none") and the total of their slots. Without such a GPU the slots are those that a user
// has set, else the default of the type.
Node with_gpu_type(Node node, std::string_view gpu_type);

}  // namespace svc

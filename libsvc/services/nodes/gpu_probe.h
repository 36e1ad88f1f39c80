#pragma once
// GPUs of a machine, as its sysfs shows them, and how many instances may share one.
#include <filesystem>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"

namespace svc {

// Slots of one GPU of a type; none for "none" and for what is not known.
int default_gpu_slots(std::string_view type);
int default_gpu_encoder_slots(std::string_view type);

// Render devices below `<sysfs>/class/drm`, in the order of their PCI addresses, with default slots. Devices
// of other vendors are left out. What cannot be read counts as absent.
std::vector<Gpu> probe_gpus(const std::filesystem::path& sysfs);

// The node as placement and clients see it while gpu.type is `gpu_type`: GPUs of that type alone (of any for
// "none"), their slots in total; without one the slots that a user has set, else the type's.
Node with_gpu_type(Node node, std::string_view gpu_type);

}  // namespace svc

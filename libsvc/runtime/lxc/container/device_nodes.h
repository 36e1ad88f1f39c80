#pragma once
// The device nodes that enter a container: of its GPUs, and of binder.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace svc::lxc {

struct DeviceNode {
    std::string name;              // in the container's folder of devices
    std::filesystem::path source;  // the machine's device of the same number
    std::string what;              // for messages: "GPU"
};

// The render devices below `<devices>/dri` of these GPUs ("D128": renderD128).
std::vector<DeviceNode> gpu_nodes(const std::vector<std::string>& gpus, const std::filesystem::path& devices);

// Makes `folder` anew with the nodes. They belong to the container's root `owner` and are open to all of its
// users: no user of another container passes the folder of this one. Without nodes there is no folder. Throws
// unavailable where the machine has no such device, unsupported where the file system of `folder` is mounted
// without devices.
void make_device_nodes(const std::filesystem::path& folder, const std::vector<DeviceNode>& nodes,
                       std::uint32_t owner);

// One of them, at `path`. Throws as above.
void make_device_node(const std::filesystem::path& path, const DeviceNode& node, std::uint32_t owner);

// "renderD128" of "D128".
std::string render_node(const std::string& gpu);

}  // namespace svc::lxc

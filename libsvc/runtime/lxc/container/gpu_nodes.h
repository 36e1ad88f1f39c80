#pragma once
// The device nodes of the GPUs that enter a container.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace svc::lxc {

// Makes `folder` anew with a node for each render device below `<devices>/dri` ("D128": renderD128). They
// belong to the container's root `owner` and are open to all of its users: no user of another container
// passes the folder of this one. Without GPUs there is no folder. Throws unavailable where the machine has no
// such device, unsupported where the file system of `folder` is mounted without devices.
void make_gpu_nodes(const std::filesystem::path& folder, const std::vector<std::string>& gpus,
                    const std::filesystem::path& devices, std::uint32_t owner);

// "renderD128" of "D128".
std::string render_node(const std::string& gpu);

}  // namespace svc::lxc

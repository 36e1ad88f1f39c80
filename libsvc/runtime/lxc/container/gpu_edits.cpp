#include "libsvc/runtime/lxc/container/gpu_edits.h"

#include <fmt/format.h>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/container/device_nodes.h"

namespace svc::lxc {

namespace {

// "dev/nvidia0": names of a mount are relative to the container's root.
std::string inside(const std::string& path) {
    return mount_field(path.substr(path.find_first_not_of('/')));
}

std::string node_line(const std::filesystem::path& folder, const CdiNode& node, std::uint32_t owner) {
    const std::filesystem::path made = folder / std::filesystem::path(node.path).relative_path();
    make_directories(made.parent_path(), 0711);
    make_device_node(made, {"", node.host, "GPU"}, owner);
    return fmt::format("lxc.mount.entry = {} {} none bind,nosuid,noexec,create=file 0 0\n", mount_field(made),
                       inside(node.path));
}

std::string mount_line(const CdiMount& mount) {
    std::error_code unreadable;
    const auto status = std::filesystem::status(mount.host, unreadable);
    if (!std::filesystem::exists(status))
        throw Error(ErrorCode::unavailable, fmt::format("GPU is not there: no file {}", mount.host.native()));
    return fmt::format("lxc.mount.entry = {} {} none bind,ro,nosuid,nodev,create={} 0 0\n",
                       mount_field(mount.host), inside(mount.path),
                       std::filesystem::is_directory(status) ? "dir" : "file");
}

}  // namespace

std::string enter_gpu_edits(const std::filesystem::path& folder, const CdiEdits& edits, std::uint32_t owner) {
    std::string lines;
    for (const CdiNode& node : edits.nodes) lines += node_line(folder, node, owner);
    for (const CdiMount& mount : edits.mounts) lines += mount_line(mount);
    for (const std::string& variable : edits.environment) lines += "lxc.environment = " + variable + "\n";
    return lines;
}

}  // namespace svc::lxc

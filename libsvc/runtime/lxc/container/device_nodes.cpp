#include "libsvc/runtime/lxc/container/device_nodes.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::lxc {

namespace {

constexpr mode_t open_to_all = 0666;

dev_t device_number(const DeviceNode& node) {
    struct stat found {};
    if (::stat(node.source.c_str(), &found) != 0 || !S_ISCHR(found.st_mode))
        throw Error(ErrorCode::unavailable,
                    fmt::format("{} is not there: no device {}", node.what, node.source.native()));
    return found.st_rdev;
}

// The kernel would refuse to open the nodes, in the guest and much later.
void check_has_devices(const std::filesystem::path& folder, const std::string& what) {
    struct statvfs system {};
    if (::statvfs(folder.c_str(), &system) != 0) throw system_error("cannot look at a folder", errno);
    if ((system.f_flag & ST_NODEV) != 0)
        throw Error(ErrorCode::unsupported,
                    fmt::format("{}: the file system of {} is mounted with nodev", what, folder.native()));
}

}  // namespace

void make_device_node(const std::filesystem::path& path, const DeviceNode& node, std::uint32_t owner) {
    if (::mknod(path.c_str(), S_IFCHR | open_to_all, device_number(node)) != 0 ||
        ::chmod(path.c_str(), open_to_all) != 0 || ::chown(path.c_str(), owner, owner) != 0)
        throw system_error(fmt::format("cannot make device {}", path.filename().native()), errno);
}

std::string render_node(const std::string& gpu) {
    return "render" + gpu;
}

std::vector<DeviceNode> gpu_nodes(const std::vector<std::string>& gpus,
                                  const std::filesystem::path& devices) {
    std::vector<DeviceNode> nodes;
    for (const std::string& gpu : gpus)
        nodes.push_back({render_node(gpu), devices / "dri" / render_node(gpu), "GPU"});
    return nodes;
}

void make_device_nodes(const std::filesystem::path& folder, const std::vector<DeviceNode>& nodes,
                       std::uint32_t owner) {
    remove_tree(folder);
    if (nodes.empty()) return;
    make_directories(folder, 0711);
    if (::chmod(folder.c_str(), 0711) != 0) throw system_error("cannot set the mode of a folder", errno);
    check_has_devices(folder, nodes.front().what);
    for (const DeviceNode& node : nodes) make_device_node(folder / node.name, node, owner);
}

}  // namespace svc::lxc

#include "libsvc/runtime/lxc/container/gpu_edits.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/container/device_nodes.h"

namespace svc::lxc {

namespace {

// "dev/nvidia0": names of a mount are relative to the container's root.
std::string inside(const std::string& path) {
    return mount_field(path.substr(path.find_first_not_of('/')));
}

// Whatever the umask, the container's root passes them when it mounts what is in them.
void make_passable_folders(std::filesystem::path made, const std::filesystem::path& steps) {
    for (const std::filesystem::path& step : steps) {
        made /= step;
        if ((::mkdir(made.c_str(), 0711) != 0 && errno != EEXIST) || ::chmod(made.c_str(), 0711) != 0)
            throw system_error("cannot make folder " + quoted(made.native()), errno);
    }
}

std::string node_line(const std::filesystem::path& folder, const CdiNode& node, std::uint32_t owner) {
    const std::filesystem::path inner = std::filesystem::path(node.path).relative_path();
    const std::filesystem::path made = folder / inner;
    make_passable_folders(folder, inner.parent_path());
    make_device_node(made, {"", node.host, "GPU"}, owner);
    return fmt::format("lxc.mount.entry = {} {} none bind,nosuid,noexec,create=file 0 0\n", mount_field(made),
                       inside(node.path));
}

std::string mount_line(const CdiMount& mount) {
    std::error_code unreadable;
    const auto status = std::filesystem::status(mount.host, unreadable);
    if (!std::filesystem::exists(status))
        throw Error(ErrorCode::unavailable, fmt::format("GPU is not there: no file {}", mount.host.native()));
    // A guest would talk to a program of the machine through its socket, also one that is bound read-only.
    if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status)) return {};
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

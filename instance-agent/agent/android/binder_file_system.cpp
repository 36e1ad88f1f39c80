#include "instance-agent/agent/android/binder_file_system.h"

#include <fcntl.h>
#include <linux/android/binderfs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::array<const char*, 3> node_names{"binder", "hwbinder", "vndbinder"};
constexpr const char* most_nodes = "max=64";  // a guest may make more of them, by its own binderfs too

void add_node(int control, const std::filesystem::path& folder, const std::string& name) {
    binderfs_device device{};
    name.copy(static_cast<char*>(device.name), sizeof device.name - 1);
    if (::ioctl(control, BINDER_CTL_ADD, &device) != 0 && errno != EEXIST)
        throw system_error("binderfs does not make " + quoted(name), errno);
    // Every user of the guest talks through it.
    if (::chmod((folder / name).c_str(), 0666) != 0)
        throw system_error("cannot set the mode of " + quoted((folder / name).native()), errno);
}

void link_node(const std::filesystem::path& dev, const std::string& name) {
    if (::symlink(("binderfs/" + name).c_str(), (dev / name).c_str()) != 0 && errno != EEXIST)
        throw system_error("cannot link " + quoted((dev / name).native()), errno);
}

}  // namespace

void make_binder_nodes(const std::filesystem::path& dev) {
    struct stat given {};
    if (::lstat((dev / "binder").c_str(), &given) == 0) return;
    const std::filesystem::path folder = dev / "binderfs";
    make_directories(folder, 0755);
    if (::mount("binder", folder.c_str(), "binder", MS_NOSUID | MS_NOEXEC, most_nodes) != 0)
        throw system_error("Android needs binder, and binderfs cannot be mounted", errno);
    const FileDescriptor control(::open((folder / "binder-control").c_str(), O_RDONLY | O_CLOEXEC));
    if (!control) throw system_error("cannot open the control node of binderfs", errno);
    for (const char* name : node_names) add_node(control.get(), folder, name);
    // The first one, by which a repetition knows that all are there, is linked last.
    for (auto name = node_names.rbegin(); name != node_names.rend(); ++name) link_node(dev, *name);
}

}  // namespace svc::agent

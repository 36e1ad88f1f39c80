#pragma once
// Mounts without a path, and where they are put. By the kernel's calls of Linux 5.12. Paths are of the
// process's root, so nothing in them leads out of the container once that is the root. Throws LaunchFailure.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "libsvc/runtime/lxc/launcher/descriptor.h"

namespace svc::lxc {

using MountOptions = std::initializer_list<std::pair<const char*, const char*>>;

// `flags`: MOUNT_ATTR_*. A value that is null: an option without one.
// `source` is only shown.
Descriptor new_file_system(const char* type, const char* source, std::uint64_t flags,
                           MountOptions options = {});
// What lies at the path, without the mounts below it; with `flags` besides those that it has. Empty: there is
// nothing at the path.
Descriptor clone_mount(int folder, const std::string& path, std::uint64_t flags = 0);
void attach(const Descriptor& mount, const std::string& path);
void attach(const Descriptor& mount, int folder);  // on the folder itself
void change_mount(const std::string& path, std::uint64_t set, std::uint64_t propagation, bool below);

// Do nothing where something is there; make the folders above.
void make_file(const std::string& path);
void make_folder(const std::string& path);

}  // namespace svc::lxc

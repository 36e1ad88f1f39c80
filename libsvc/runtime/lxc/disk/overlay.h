#pragma once
// Overlay mounts of layers on the host: with a writable folder for a container, or read-only without a path.
// Any thread; functions throw Error.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/disk/id_mapping.h"

namespace svc::lxc {

struct Overlay {
    std::vector<std::filesystem::path> layers;  // lowest first
    std::filesystem::path upper, work, target;  // `upper` and `work` are in one folder
    std::optional<IdMapping> id_mapping = {};   // of all owners, as seen in `target`
};

bool is_mount_point(const std::filesystem::path& path);
// Does nothing when it is mounted already. Returns what the overlay has been made from and does not need any
// longer, or nothing: to close it may take the kernel milliseconds.
FileDescriptor mount_overlay(const Overlay& overlay);
// The two ways in which mount_overlay() maps owners. Before Linux 6.15 an overlay takes only folders that
// have a path: there the mapped folders lie under `target`, below the overlay.
FileDescriptor mount_over_detached(const Overlay& overlay);  // empty: not on this kernel
void mount_over_attached(const Overlay& overlay);
// Why owners cannot be mapped in `folder`, on this kernel or file system; empty: they can. Tries it in a new
// folder, which remove_probes() removes after a crash.
std::string id_mapping_failure(const std::filesystem::path& folder, const IdMapping& mapping);
void remove_probes(const std::filesystem::path& folder);
// Waits a short time for the last users, then detaches the mount: the kernel unmounts it when they have gone.
void unmount_overlay(const std::filesystem::path& target);
// Removes the mount from the tree at once. The slow part (the kernel writes all data of the file system
// below) happens when the caller closes the descriptor. Empty: nothing is mounted there.
FileDescriptor detach_overlay(const std::filesystem::path& target);

// The layers (lowest first) as one read-only tree without a path: it is unmounted when the descriptor is
// closed, also when this process is killed. `scratch`: an empty folder of the caller, used where the kernel
// cannot mount without a path; where the process is killed meanwhile, the caller detaches the mount and
// removes the folder later.
FileDescriptor open_merged(const std::vector<std::filesystem::path>& layers,
                           const std::filesystem::path& scratch);
// The two ways in which open_merged() does it.
FileDescriptor mount_detached(const std::vector<std::filesystem::path>& layers);  // empty: not on this kernel
FileDescriptor mount_aside(const std::vector<std::filesystem::path>& layers,
                           const std::filesystem::path& scratch);

}  // namespace svc::lxc

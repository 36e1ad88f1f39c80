#pragma once
// Overlay mounts of layers, on the host: with a writable folder for a container, or read-only and out of
// sight.
#include <filesystem>
#include <vector>

#include "libsvc/base/file.h"

namespace svc::lxc {

struct Overlay {
    std::vector<std::filesystem::path> layers;  // lowest first
    std::filesystem::path upper, work, target;
};

bool is_mount_point(const std::filesystem::path& path);
void mount_overlay(const Overlay& overlay);  // mounted already: fine
// Waits a little for the last users; then detaches it, to go when they do.
void unmount_overlay(const std::filesystem::path& target);
// Takes it out of sight at once. What takes its time, writing all that the file system below has in memory,
// is left to whoever closes the descriptor. Empty: nothing is mounted there.
FileDescriptor detach_overlay(const std::filesystem::path& target);

// The layers (lowest first) as one read-only tree that no path leads to: it goes away with the descriptor,
// however this process ends. `scratch`: an empty folder of the caller's, used where the kernel cannot mount
// without a place; a mount left there (this process was killed in between) can be detached and the folder
// removed.
FileDescriptor open_merged(const std::vector<std::filesystem::path>& layers,
                           const std::filesystem::path& scratch);
// The two ways it does so.
FileDescriptor mount_detached(const std::vector<std::filesystem::path>& layers);  // empty: not on this kernel
FileDescriptor mount_aside(const std::vector<std::filesystem::path>& layers,
                           const std::filesystem::path& scratch);

}  // namespace svc::lxc

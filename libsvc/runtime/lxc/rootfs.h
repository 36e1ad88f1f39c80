#pragma once
// A container's root file system: an overlay of a writable folder over read-only layers, mounted on the host.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

struct Overlay {
    std::vector<std::filesystem::path> layers;  // lowest first
    std::filesystem::path upper, work, target;
};

bool is_mount_point(const std::filesystem::path& path);
void mount_overlay(const Overlay& overlay);  // mounted already: fine
// Waits a little for the last users; then detaches it, to go when they do.
void unmount_overlay(const std::filesystem::path& target);

// Writes a file below `root`, replacing what is there; names are resolved by the kernel as if `root` was "/".
// Missing folders are made. Everything made belongs to `owner`. Only while no container runs on it.
void place_file(const std::filesystem::path& root, const PlacedFile& file, std::uint32_t owner);

// Checks that `init` (its first word) can be executed; returns where its links lead, a path inside `root`.
// Throws invalid_argument "image has no init: ...".
std::string find_init(const std::filesystem::path& root, const std::string& init);

}  // namespace svc::lxc

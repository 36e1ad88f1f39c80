#pragma once
// Walking trees that a guest has made: by descriptors, through no link.
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/base/file.h"

struct stat;

namespace svc::lxc {

// What a path inside a tree may be at most: beyond it no archive of ours could be unpacked again, and each
// level walked holds a descriptor.
constexpr std::size_t max_tree_path = 4000;  // with "rootfs/"
constexpr std::size_t max_tree_depth = 400;

// For reading; throws when it is no folder.
FileDescriptor open_folder_in(int folder, const std::string& name);
std::vector<std::string> sorted_names(int folder);  // without "." and ".."
struct stat stat_in(int folder, const std::string& name);

// Removes `path` ("/a/b", from `root`) with all below it. Absent is fine, and so is a link on the way: then
// there is no such file in this tree.
void remove_inside(const std::filesystem::path& root, const std::string& path);

}  // namespace svc::lxc

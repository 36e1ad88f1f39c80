#pragma once
// Walking trees that a guest has made: by descriptors, without following links. Any thread; functions throw
// Error.
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/base/file.h"

struct stat;

namespace svc::lxc {

// Limits of paths inside a tree: a longer path could not be unpacked from an archive again, and each level of
// a walk holds a descriptor.
constexpr std::size_t max_tree_path = 4000;  // bytes, with "rootfs/"
constexpr std::size_t max_tree_depth = 400;

// Opens a folder for reading; throws when `name` is no folder.
FileDescriptor open_folder_in(int folder, const std::string& name);
FileDescriptor open_file_in(int folder, const std::string& name);
std::vector<std::string> sorted_names(int folder);  // without "." and ".."
struct stat stat_in(int folder, const std::string& name);
std::string link_target_in(int folder, const std::string& name);

// Removes `path` ("/a/b", from `root`) with all below it. Does nothing when it does not exist or a link is on
// the way: then the tree has no such file.
void remove_inside(const std::filesystem::path& root, const std::string& path);

}  // namespace svc::lxc

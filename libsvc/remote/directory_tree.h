#pragma once
// Internal to this folder: reading files of a directory that somebody else may have written.
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/file.h"

namespace svc {

// Thread-safe. Everything below is resolved beneath the directory by the kernel, and no symbolic link is
// followed. All throw not_found for what is not there (or is a link), unavailable when the directory itself
// cannot be opened.
class DirectoryTree {
  public:
    explicit DirectoryTree(std::filesystem::path root) : root_(std::move(root)) {}

    // Names of directories (without those that begin with a dot), in order. Throws invalid_argument when
    // there are more.
    std::vector<std::string> directories(const std::string& path, std::size_t at_most) const;
    std::string read(const std::string& path,
                     std::size_t max_bytes) const;  // throws invalid_argument when larger
    void read(const std::string& path, const std::function<void(std::string_view)>& write) const;
    bool has_file(const std::string& path) const;
    const std::filesystem::path& root() const { return root_; }

    FileDescriptor open(const std::string& path, int flags) const;

  private:
    FileDescriptor open_regular(const std::string& path) const;

    std::filesystem::path root_;
};

}  // namespace svc

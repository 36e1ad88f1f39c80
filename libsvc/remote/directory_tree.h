#pragma once
// Internal to this folder: reads files of a directory that others write, too.
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/file.h"

namespace svc {

// Thread-safe. The kernel resolves all paths beneath the directory and follows no symbolic link. All throw
// not_found for what is absent or a link, unavailable when the directory itself cannot be opened.
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

#pragma once
// Files that may be absent. read_if_there() and is_there() throw where a file exists and cannot be read, or
// the kernel cannot tell: a caller that took such a file for absent might overwrite or remove data. Any
// thread.
#include <filesystem>
#include <optional>
#include <string>

namespace svc {

// The content; nothing: the file does not exist.
std::optional<std::string> read_if_there(const std::filesystem::path& path,
                                         std::size_t max_bytes = 16U << 20);
// The content; empty also where the file cannot be read. For what is only looked at, as files of the kernel
// are.
std::string read_or_empty(const std::filesystem::path& path, std::size_t max_bytes = 16U << 20);
bool is_there(const std::filesystem::path& path);  // a file of any type; a symbolic link is not followed

}  // namespace svc

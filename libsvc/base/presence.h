#pragma once
// Files that may not be there. What is there and cannot be read, or looked at, throws: nobody may take it for
// absent, and make or remove something because of that.
#include <filesystem>
#include <optional>
#include <string>

namespace svc {

std::optional<std::string> read_if_there(const std::filesystem::path& path,
                                         std::size_t max_bytes = 16U << 20);
bool is_there(const std::filesystem::path& path);  // whatever it is; a link is not followed

}  // namespace svc

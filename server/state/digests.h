#pragma once
// Small looks at the files of a state directory that check, recover and export share.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "server/state/paths.h"

namespace svc::server::state {

std::string digest_of(const std::filesystem::path& file);  // SHA-256; constant memory
std::vector<std::filesystem::path> package_files(const StatePaths& paths);
std::optional<std::uint32_t> read_id_base(const StatePaths& paths);  // nothing: absent or damaged

}  // namespace svc::server::state

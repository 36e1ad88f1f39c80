#pragma once
// The compressions of archives.
#include <filesystem>
#include <string>
#include <string_view>

namespace svc {

// Told by the first bytes. `zstd` is known by name only: no package is compressed so.
enum class Compression { none, gzip, bzip2, xz, zstd, unknown };
Compression detect_compression(const std::filesystem::path& file);
std::string_view to_text(Compression compression);

// Throws invalid_argument "archive is malformed: <reason>".
[[noreturn]] void throw_malformed_archive(const std::string& reason);

}  // namespace svc

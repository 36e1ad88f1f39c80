#pragma once
// The compressions of archives.
#include <filesystem>
#include <string>
#include <string_view>

namespace svc {

// Told by the first bytes. Layers of OCI images alone are compressed by zstd, packages are not.
enum class Compression { none, gzip, bzip2, xz, zstd, unknown };
Compression detect_compression(const std::filesystem::path& file);
std::string_view to_text(Compression compression);

// Throws invalid_argument "archive is malformed: <reason>".
[[noreturn]] void throw_malformed_archive(const std::string& reason);

}  // namespace svc

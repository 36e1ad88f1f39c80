#pragma once
// The compressions of archives.
#include <filesystem>
#include <string>
#include <string_view>

namespace svc {

// Told by the first bytes.
enum class Compression { none, gzip, bzip2, xz, zstd, unknown };
Compression detect_compression(const std::filesystem::path& file);
std::string_view to_text(Compression compression);
// "gzip" or "zstd", as archives are made; throws invalid_argument for anything else.
Compression written_compression(std::string_view text);

// Throws invalid_argument "archive is malformed: <reason>".
[[noreturn]] void throw_malformed_archive(const std::string& reason);

}  // namespace svc

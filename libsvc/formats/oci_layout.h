#pragma once
// Reads an OCI image layout (image specification 1.0) as skopeo and umoci write it. Any thread; blocks.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace svc {

// One image for one architecture.
struct OciImage {
    std::string architecture;                   // "x86_64" or "aarch64"
    std::int64_t created = 0;                   // seconds since 1970; 0: not said
    std::vector<std::string> arguments;         // entry point and command
    std::vector<std::string> environment;       // "NAME=value"
    std::string directory;                      // the working directory; "": the root
    std::string user;                           // "name", "id", "name:group" ...; "": root
    std::string stop_signal;                    // "SIGQUIT" ...; "": SIGTERM
    std::vector<std::filesystem::path> layers;  // tarballs, lowest first
};

// The image for `architecture` in the layout `directory`. Compares the digest of every blob that belongs to
// it. Throws not_found where the directory is no layout or a blob is missing, invalid_argument where a
// document is malformed, a digest differs, a layer is compressed by zstd, or where there is no such image or
// more than one.
OciImage read_oci_layout(const std::filesystem::path& directory, const std::string& architecture);

}  // namespace svc

#pragma once
// Reads an OCI image layout (image specification 1.0) as skopeo and umoci write it. Any thread; blocks.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/formats/oci/command.h"

namespace svc {

// One image for one architecture.
struct OciImage {
    std::string architecture;                   // "x86_64" or "aarch64"
    std::int64_t created = 0;                   // seconds since 1970; 0: not said
    OciCommand command;                         // no arguments: the image names none
    std::vector<std::filesystem::path> layers;  // tarballs, lowest first
};

// The image for `architecture` in the layout `directory`. Compares the digest of every blob that belongs to
// it. Throws not_found where the directory is no layout or a blob is missing, invalid_argument where a
// document is malformed, a digest differs, a layer is of an unknown type, there are more documents or layers
// than images have, or where there is no such image or more than one.
OciImage read_oci_layout(const std::filesystem::path& directory, const std::string& architecture);

}  // namespace svc

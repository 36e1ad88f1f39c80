#pragma once
// Reading the metadata of an image package before it is unpacked.
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include "libsvc/model/packages/image.h"

namespace svc {

constexpr std::uint64_t quick_search_bytes = std::uint64_t{64}
                                             << 20;  // the search takes little enough time for a request
constexpr std::uint64_t whole_package = std::numeric_limits<std::uint64_t>::max();

// The metadata of a package; nothing when it is not within the first `search_limit` unpacked bytes.
// Throws invalid_argument: not a tarball, another compression, metadata.yaml missing or wrong.
std::optional<ImageMetadata> read_image_metadata(const std::filesystem::path& package,
                                                 std::uint64_t search_limit);

}  // namespace svc

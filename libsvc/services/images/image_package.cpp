#include "libsvc/services/images/image_package.h"

#include <string>

#include "libsvc/base/error.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/yaml.h"

namespace svc {

namespace {

constexpr std::size_t max_metadata_bytes = std::size_t{1} << 20;

void check_compression(const std::filesystem::path& package) {
    switch (detect_compression(package)) {
        case Compression::gzip:
        case Compression::bzip2:
        case Compression::xz:
        case Compression::zstd:
            return;
        case Compression::none:
        case Compression::unknown:
            break;
    }
    throw Error(ErrorCode::invalid_argument,
                "image package is not a tarball compressed by gzip, bzip2, xz or zstd");
}

}  // namespace

std::optional<ImageMetadata> read_image_metadata(const std::filesystem::path& package,
                                                 std::uint64_t search_limit) {
    check_compression(package);
    bool searched_all = false;
    const auto text =
        read_archive_member(package, "metadata.yaml", max_metadata_bytes, search_limit, &searched_all);
    if (text)
        return ImageMetadata::parse(
            with_context("metadata.yaml is malformed", [&] { return parse_yaml(*text); }));
    if (searched_all) throw Error(ErrorCode::invalid_argument, "metadata.yaml not found");
    return std::nullopt;
}

}  // namespace svc

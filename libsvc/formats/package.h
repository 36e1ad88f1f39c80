#pragma once
// Lists application and addon packages: bzip2 tarballs or zip archives of a manifest, hooks and files
// (docs/management.md, "Packages and manifests"). package_unpack.h unpacks them.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/formats/archive.h"

namespace svc {

enum class PackageEntryKind { file, directory, symbolic_link, hard_link };
enum class PackageFormat { bzip2_tar, zip };

struct PackageEntry {
    std::string path;  // "hooks/pre-start": without "./", "//" or a slash at the end
    PackageEntryKind kind = PackageEntryKind::file;
    unsigned mode = 0;       // permission bits with setuid, setgid and sticky
    std::uint64_t size = 0;  // bytes of a file
};

struct PackageListing {
    PackageFormat format = PackageFormat::bzip2_tar;
    std::string manifest;  // text of manifest.yaml
    bool has_manifest = false;
    std::vector<PackageEntry> entries;  // in the order of the archive
    std::uint64_t unpacked_bytes = 0;   // of all files

    const PackageEntry* find(std::string_view path) const;  // null when there is none
};

struct PackageLimits {
    std::uint64_t max_entries = 100'000;
    std::uint64_t max_bytes = std::uint64_t{64} << 30;  // of all files together, unpacked
    std::size_t max_manifest = std::size_t{1} << 20;
    ExpansionLimit expansion = {};
};

// Gets the bytes of each file as they are read; those between two runs are zeros. What it throws ends the
// reading.
using PackageSink =
    std::function<void(const PackageEntry& file, std::uint64_t offset, std::string_view bytes)>;

// Reads the whole archive, so that a truncated one is refused. Throws invalid_argument: "package is not a
// bzip2 tarball" (by content, not by name), broken bytes, more entries or bytes than the limits, an absolute
// name or "..", one name twice, a device, fifo or socket, a link (of either kind) that leads out of the
// package, an entry beneath something that is not a directory, a manifest larger than the limit. A listing
// without manifest.yaml is allowed here: the caller decides. Throws cancelled when stopped. Constant memory
// besides the listing.
PackageListing list_package(const std::filesystem::path& package, const PackageLimits& limits = {},
                            std::stop_token stop = {}, const PackageSink& sink = {});

}  // namespace svc

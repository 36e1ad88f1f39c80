// Packages of applications and addons, zip or tar: what the service lists, the agent unpacks, with the same
// files, and nothing lies outside of the package. The first byte: compress the rest, or take it as it is.
#include <bzlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/formats/package.h"
#include "libsvc/formats/package_unpack.h"
#include "libsvc/formats/yaml.h"
#include "tests/fuzz/memory_folder.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::package_target {

namespace {

namespace fs = std::filesystem;

std::string compressed(std::string text) {
    std::string out(text.size() + text.size() / 50 + 700, '\0');
    auto size = static_cast<unsigned>(out.size());
    if (BZ2_bzBuffToBuffCompress(out.data(), &size, text.data(), static_cast<unsigned>(text.size()), 1, 0,
                                 0) != BZ_OK)
        std::abort();
    out.resize(size);
    return out;
}

void check_unpacked(const PackageListing& listing, const fs::path& target) {
    for (const PackageEntry& entry : listing.entries) {
        std::error_code failure;
        const auto status = fs::symlink_status(target / entry.path, failure);
        if (!fs::exists(status)) std::abort();
        if (entry.kind == PackageEntryKind::file && fs::file_size(target / entry.path) != entry.size)
            std::abort();
    }
    for (const auto& entry : fs::recursive_directory_iterator(target)) {
        if (!entry.is_symlink()) continue;
        const fs::path place = fs::weakly_canonical(entry.path());
        if (place.native().rfind(fs::canonical(target).native(), 0) != 0) std::abort();
    }
}

}  // namespace

FUZZ_TARGET(package)(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const TemporaryDirectory folder(memory_folder(), "svc-fuzz-");
    fs::create_directory(folder.path() / "target");
    const fs::path package = folder.path() / "package";
    write_file_atomically(package, (data[0] & 1) != 0 ? compressed(text) : text);
    PackageLimits limits;
    limits.max_bytes = 1U << 20;
    limits.max_entries = 100;
    try {
        const PackageListing listing = list_package(package, limits);
        unpack_package(package, folder.path() / "target", {limits.max_entries, limits.max_bytes});
        check_unpacked(listing, folder.path() / "target");
    } catch (const Error& e) {
        if (e.code() != ErrorCode::invalid_argument && e.code() != ErrorCode::internal) std::abort();
    }
    return 0;
}

}  // namespace svc::fuzz::package_target

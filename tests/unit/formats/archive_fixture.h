#pragma once
// An archive, made entry by entry, and where it is unpacked.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/formats/archive.h"
#include "tests/unit/formats/archive_builder.h"

namespace svc::test {

namespace fs = std::filesystem;

inline const ArchiveItem top{.path = "rootfs/", .type = AE_IFDIR, .mode = 0755};

// An archive and the directory it is unpacked into.
struct ArchiveFixture {
    svc::TemporaryDirectory tmp{fs::temp_directory_path()};
    fs::path archive = tmp.path() / "archive";
    fs::path target = tmp.path() / "target";
    svc::UnpackOptions options;

    ArchiveFixture() {
        fs::create_directory(target);
        options.subtree = "rootfs";
    }
    svc::UnpackResult unpack(const std::vector<ArchiveItem>& items, int filter = ARCHIVE_FILTER_NONE) {
        build_archive(archive, items, filter);
        return svc::unpack_archive(archive, target, options);
    }
    std::string refusal(const std::vector<ArchiveItem>& items) {
        fs::remove_all(target);
        fs::create_directory(target);
        try {
            unpack(items);
        } catch (const svc::Error& e) {
            CHECK(e.code() == svc::ErrorCode::invalid_argument);
            return e.what();
        }
        return "accepted";
    }
    struct stat info(const std::string& path) const {
        struct stat result {};
        if (::lstat((target / path).c_str(), &result) != 0) throw std::runtime_error(path + " is absent");
        return result;
    }
};

inline ArchiveItem file(std::string path, std::string content = "x") {
    return {.path = std::move(path), .content = std::move(content)};
}
inline ArchiveItem soft_link(std::string path, std::string text) {
    return {.path = std::move(path), .type = AE_IFLNK, .link = std::move(text)};
}
inline ArchiveItem hard_link(std::string path, std::string source) {
    return {.path = std::move(path), .hard_link = std::move(source)};
}

inline const std::pair<int, svc::Compression> compressions[] = {
    {ARCHIVE_FILTER_NONE, svc::Compression::none},
    {ARCHIVE_FILTER_GZIP, svc::Compression::gzip},
    {ARCHIVE_FILTER_BZIP2, svc::Compression::bzip2},
    {ARCHIVE_FILTER_XZ, svc::Compression::xz},
    {ARCHIVE_FILTER_ZSTD, svc::Compression::zstd}};

}  // namespace svc::test

// A disk that also holds the store: what the runtime unpacks and copies leaves it room to write.
#include <catch2/catch.hpp>
#include <fstream>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/disk/copy.h"
#include "libsvc/runtime/lxc/disk/layers.h"
#include "tests/support/error_code.h"
#include "tests/support/skip.h"
#include "tests/support/small_disk.h"
#include "tests/unit/formats/archive_builder.h"

using namespace svc;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t disk_bytes = 48U << 20;
const DiskFloor floor_kept{16U << 20, 64};
const ArchiveItem top{.path = "rootfs/", .type = AE_IFDIR, .mode = 0755};
const TemporaryDirectory& elsewhere() {
    static const TemporaryDirectory directory(fs::temp_directory_path());
    return directory;
}

struct Layer {
    explicit Layer(const fs::path& state, lxc::LayerLimits limits = {floor_kept, {}})
        : layers({state}, 0, 65536, limits) {}
    std::string refusal(const std::vector<ArchiveItem>& items) {
        const fs::path package = elsewhere().path() / "package";
        build_archive(package, items, ARCHIVE_FILTER_GZIP);
        std::string message;
        CHECK(test::code_of([&] { add(package, message); }) == ErrorCode::exhausted);
        return message;
    }
    void add(const fs::path& package, std::string& message) {
        try {
            layers.add("l", package, {});
        } catch (const Error& e) {
            message = e.what();
            throw;
        }
    }
    lxc::Layers layers;
};

void check_as_before(const fs::path& disk, std::uint64_t free_before) {
    CHECK(fs::is_empty(disk / "layers"));
    CHECK(free_bytes(disk) + (1U << 20) > free_before);
    CHECK_NOTHROW(write_file_atomically(disk / "record", std::string(1U << 20, 'r')));
}

}  // namespace

TEST_CASE("an archive that would fill the disk is refused while it is unpacked and leaves nothing") {
    test::skip_unless_root();
    test::on_small_disk(disk_bytes, [](const fs::path& disk) {
        Layer layer(disk);
        const std::uint64_t before = free_bytes(disk);
        const std::string message =
            layer.refusal({top, {.path = "rootfs/big", .content = std::string(64U << 20, '\0')}});
        CHECK_THAT(message,
                   Catch::StartsWith("not enough space in 'layers' to unpack an archive: more than 3"));
        CHECK_THAT(message,
                   Catch::Contains("bytes needed, 1") && Catch::EndsWith("16777216 kept in reserve"));
        check_as_before(disk, before);
    });
}

TEST_CASE("an archive of many small files leaves inodes") {
    test::skip_unless_root();
    test::on_small_disk(
        disk_bytes,
        [](const fs::path& disk) {
            Layer layer(disk);
            std::vector<ArchiveItem> items{top};
            for (int i = 0; i < 400; ++i) items.push_back({.path = "rootfs/" + std::to_string(i)});
            CHECK_THAT(layer.refusal(items),
                       Catch::Contains(" files needed, ") && Catch::EndsWith("64 kept in reserve"));
            check_as_before(disk, 0);
        },
        300);
}

TEST_CASE("an archive that fits beside the floor is unpacked") {
    test::skip_unless_root();
    test::on_small_disk(disk_bytes, [](const fs::path& disk) {
        Layer layer(disk);
        const fs::path package = elsewhere().path() / "package";
        build_archive(package, {top, {.path = "rootfs/big", .content = std::string(24U << 20, 'x')}},
                      ARCHIVE_FILTER_GZIP);
        CHECK_NOTHROW(layer.layers.add("l", package, {}));
        CHECK(layer.layers.size("l") == 24U << 20);
    });
}

TEST_CASE("what an image may unpack to is limited, whatever is free") {
    test::skip_unless_root();
    const TemporaryDirectory state(fs::temp_directory_path());
    lxc::LayerLimits limits;
    limits.unpacked.max_bytes = 1U << 20;
    Layer layer(state.path(), limits);
    const fs::path package = state.path() / "package";
    build_archive(package, {top, {.path = "rootfs/big", .content = std::string((1U << 20) + 1, 'x')}},
                  ARCHIVE_FILTER_XZ);
    CHECK_THROWS_WITH(layer.layers.add("l", package, {}), "archive holds more than 1048576 bytes");
    CHECK(fs::is_empty(state.path() / "layers"));
}

TEST_CASE("a copy of many files stops while it runs") {
    test::skip_unless_root();
    test::on_small_disk(
        disk_bytes,
        [](const fs::path& disk) {
            make_directories(disk / "from");
            for (int i = 0; i < 3000; ++i) std::ofstream(disk / "from" / std::to_string(i));
            const std::string refused = test::message_of([&] {
                lxc::copy_tree(disk / "from", disk / "to", DiskFloor{0, 3000}, {});
            });
            CHECK_THAT(refused, Catch::Contains("to copy files of a container") &&
                                    Catch::EndsWith("3000 kept in reserve"));
        },
        8000);
}

TEST_CASE("a copy of a container's files stops at the floor") {
    test::skip_unless_root();
    test::on_small_disk(disk_bytes, [](const fs::path& disk) {
        make_directories(disk / "from");
        write_file_atomically(disk / "from/file", random_bytes(20U << 20));
        const std::string before = test::message_of([&] {
            lxc::copy_tree(disk / "from", disk / "to", DiskFloor{30U << 20, 0}, {});
        });
        CHECK_THAT(before, Catch::StartsWith("not enough space in") &&
                               Catch::Contains("to copy files of a container"));
        CHECK_FALSE(fs::exists(disk / "to"));
        CHECK(test::code_of([&] {
                  lxc::copy_tree(disk / "from", disk / "to", DiskFloor{1U << 20, 0}, {});
              }) == std::nullopt);
    });
}

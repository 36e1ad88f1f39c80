#include "libsvc/store/sqlite/disk_reserve.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "libsvc/base/file.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/small_disk.h"

using namespace svc;
namespace fs = std::filesystem;

namespace {

void fill(const fs::path& disk) {
    std::ofstream filler(disk / "filler", std::ios::binary | std::ios::app);
    for (std::size_t size = std::size_t{1} << 20; size >= 512; size /= 2) {
        const std::string block(size, 'x');
        while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
        filler.clear();
    }
}

}  // namespace

TEST_CASE("records are still written and found again when others have filled the disk") {
    test::on_small_disk(std::uint64_t{300} << 20U, [](const fs::path& disk) {
        const fs::path file = disk / "svc.db";
        {
            SqliteStore store(file);
            store.commit(Batch().put("images/a", std::string(1000, 'a')));
            REQUIRE(fs::file_size(disk / "svc.db.reserve") == std::uintmax_t{32} << 20);
            fill(disk);
            for (int i = 0; i < 400; ++i)  // more than the log has room for
                store.commit(Batch().put("operations/" + std::to_string(i), std::string(20'000, 'x')));
            CHECK_FALSE(fs::exists(disk / "svc.db.reserve"));
            store.commit(Batch().remove("images/a"));
        }
        SqliteStore again(file);
        CHECK_FALSE(again.get("images/a"));
        CHECK(again.list("operations/").size() == 400);
    });
}

TEST_CASE("a store opens on a disk that others have filled") {
    test::on_small_disk(std::uint64_t{300} << 20U, [](const fs::path& disk) {
        const fs::path file = disk / "svc.db";
        { SqliteStore store(file); }
        fill(disk);
        SqliteStore store(file);
        CHECK(store.commit(Batch().put("a", "b")) > 0);
    });
}

TEST_CASE("a reserve is taken where there is room for much more, and again when there is") {
    test::on_small_disk(std::uint64_t{64} << 20U, [](const fs::path& disk) {
        DiskReserve small(disk / "small", 1U << 20);
        CHECK(fs::file_size(disk / "small") == 1U << 20);
        CHECK(small.release());
        CHECK_FALSE(small.release());
        small.restore();
        CHECK(fs::file_size(disk / "small") == 1U << 20);
        const DiskReserve large(disk / "large", 32U << 20);
        CHECK_FALSE(fs::exists(disk / "large"));
    });
}

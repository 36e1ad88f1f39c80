#include "libsvc/runtime/simulated/simulated_journal.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/small_disk.h"

using namespace svc;

namespace {

struct World {
    TemporaryDirectory directory{std::filesystem::temp_directory_path()};
    std::filesystem::path file = directory.path() / "journal";

    std::map<std::string, std::string> read() const {
        std::map<std::string, std::string> all;
        SimulatedJournal(file).read([&](const std::string& key, std::optional<std::string_view> value) {
            if (value)
                all[key] = *value;
            else
                all.erase(key);
        });
        return all;
    }
    void cut(std::size_t bytes) const {
        std::filesystem::resize_file(file, std::filesystem::file_size(file) - bytes);
    }
};

using Known = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("the last line of a key counts") {
    const World world;
    SimulatedJournal journal(world.file);
    journal.put("a", "1");
    journal.put("b", "2");
    journal.put("a", "3");
    journal.remove("b");
    CHECK(world.read() == Known{{"a", "3"}});
}

TEST_CASE("a line that was cut off never counts") {
    const World world;
    SimulatedJournal(world.file).put("a", "1");
    SimulatedJournal(world.file).put("a", "2");
    world.cut(3);  // the key alone is left: as a line it would say that the container is gone
    CHECK(world.read() == Known{{"a", "1"}});
    CHECK(world.read() == Known{{"a", "1"}});
    SimulatedJournal(world.file).put("b", "2");
    CHECK(world.read() == Known{{"a", "1"}, {"b", "2"}});
}

TEST_CASE("what ends is written on a full disk, and a line that does not fit spoils none") {
    test::on_small_disk(std::uint64_t{1} << 20U, [](const std::filesystem::path& disk) {
        const auto read = [&] {
            Known all;
            SimulatedJournal(disk / "journal").read([&](const std::string& key, auto value) {
                value ? void(all[key] = *value) : void(all.erase(key));
            });
            return all;
        };
        SimulatedJournal journal(disk / "journal");
        journal.put("a", "1");
        {
            const FileDescriptor filler = open_file(disk / "filler", O_WRONLY | O_CREAT);
            CHECK_THROWS_AS(write_all(filler.get(), std::string(2U << 20, 'x')), Error);
        }
        journal.remove("a");
        CHECK_THROWS_AS(journal.put("b", std::string(1U << 20, 'b')), Error);
        std::filesystem::remove(disk / "filler");
        journal.put("c", "3");
        CHECK(read() == Known{{"c", "3"}});
    });
}

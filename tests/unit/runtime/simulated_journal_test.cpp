#include "libsvc/runtime/simulated/simulated_journal.h"

#include <catch2/catch.hpp>
#include <map>

#include "libsvc/base/file.h"

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

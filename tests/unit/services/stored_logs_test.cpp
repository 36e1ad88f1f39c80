#include "libsvc/services/instances/end/stored_logs.h"

#include <fcntl.h>

#include <fstream>

#include "libsvc/base/file.h"
#include "tests/unit/services/package_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct LogFixture : PackageFixture {
    StoredLogs stored{content(), directory.path() / "kept", 10};

    std::filesystem::path write(const char* name, std::string_view text) const {
        std::ofstream(directory.path() / name) << text;
        return directory.path() / name;
    }
    // The text of the only log that is collected.
    std::string kept(const std::vector<LogFile>& sources) const {
        const auto logs = stored.collect("one", sources);
        REQUIRE(logs.size() == 1);
        CHECK(logs[0].name == "system.log");
        return read_file(stored.path("one", logs[0]));
    }
};

}  // namespace

TEST_CASE_METHOD(LogFixture, "a log that comes opened is not looked up again") {
    const auto path = write("hooks.log", "hooks");
    LogFile log{"system.log", path, std::make_shared<const FileDescriptor>(open_file(path, O_RDONLY))};
    std::filesystem::remove(path);
    std::filesystem::create_symlink(write("secret", "of the host"), path);
    CHECK(kept({log}) == "hooks");
}

TEST_CASE_METHOD(LogFixture, "links, folders and what is missing are left out") {
    std::filesystem::create_symlink(write("secret", "of the host"), directory.path() / "link");
    const std::vector<LogFile> logs{{"link.log", directory.path() / "link"},
                                    {"folder.log", directory.path()},
                                    {"missing.log", directory.path() / "missing"}};
    CHECK(stored.collect("one", logs).empty());
}

TEST_CASE_METHOD(LogFixture, "of two sources of one name the later is kept in full, of all the tail") {
    CHECK(kept({{"system.log", write("1", "123456789")}, {"system.log", write("2", "abcd")}}) ==
          "456789abcd");
    CHECK(kept({{"system.log", write("3", "0123456789abcdef")}}) == "6789abcdef");
    CHECK(kept({{"system.log", write("4", "one")}, {"system.log", directory.path() / "missing"}}) == "one");
}

TEST_CASE_METHOD(LogFixture, "a log stays until whoever has collected it drops it") {
    const auto logs = stored.collect("one", {{"system.log", write("1", "panic")}});
    const auto same = stored.collect("two", {{"system.log", write("2", "panic")}});
    content().collect_garbage();
    CHECK(blobs.contains(logs.at(0).digest));
    stored.drop("one", logs);
    CHECK(read_file(stored.path("two", same.at(0))) == "panic");
    stored.drop("two", same);
    CHECK_FALSE(blobs.contains(logs.at(0).digest));
}

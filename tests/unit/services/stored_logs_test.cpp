#include "libsvc/services/instances/end/stored_logs.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "libsvc/base/file.h"

using namespace svc;

namespace {

struct Fixture {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-logs-"};
    StoredLogs stored{directory.path() / "kept", 10};

    std::filesystem::path write(const char* name, std::string_view text) const {
        std::ofstream(directory.path() / name) << text;
        return directory.path() / name;
    }
    std::string kept(const char* name) const { return read_file(stored.path("one", name)); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a log that comes opened is not looked up again") {
    const auto path = write("hooks.log", "hooks");
    LogFile log{"system.log", path, std::make_shared<const FileDescriptor>(open_file(path, O_RDONLY))};
    std::filesystem::remove(path);
    std::filesystem::create_symlink(write("secret", "of the host"), path);
    CHECK(stored.collect("one", {log}) == std::vector<std::string>{"system.log"});
    CHECK(kept("system.log") == "hooks");
}

TEST_CASE_METHOD(Fixture, "links, folders and what is missing are left out") {
    std::filesystem::create_symlink(write("secret", "of the host"), directory.path() / "link");
    const std::vector<LogFile> logs{{"link.log", directory.path() / "link"},
                                    {"folder.log", directory.path()},
                                    {"missing.log", directory.path() / "missing"}};
    CHECK(stored.collect("one", logs).empty());
}

TEST_CASE_METHOD(Fixture, "of two sources of one name the later is kept in full, of all the tail") {
    const std::vector<LogFile> logs{{"a.log", write("1", "123456789")}, {"a.log", write("2", "abcd")}};
    CHECK(stored.collect("one", logs) == std::vector<std::string>{"a.log"});
    CHECK(kept("a.log") == "456789abcd");
    stored.collect("one", {{"a.log", write("3", "0123456789abcdef")}});
    CHECK(kept("a.log") == "6789abcdef");
}

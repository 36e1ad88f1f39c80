// Control groups that a guest has divided further: what is killed in them, and what is no reason to give up.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/runtime/lxc/host/cgroups.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::lxc;

namespace {

namespace fs = std::filesystem;

CgroupLayout layout_of(const fs::path& v2) {
    CgroupLayout layout;
    layout.v2 = v2;
    layout.hierarchies = {v2};
    return layout;
}

bool say(const fs::path& file, const std::string& text) {
    std::ofstream stream(file);
    stream << text << std::flush;
    return stream.good();
}

// A group with a process in a threaded one below, as far as this machine lets us make them.
struct ThreadedGroup {
    ThreadedGroup() {
        SpawnOptions options;
        options.arguments = {"/bin/sleep", "600"};
        sleeper.emplace(options);
        const std::string pid = std::to_string(sleeper->pid());
        std::error_code failure;
        made = !layout.v2.empty() && fs::create_directories(inner, failure) &&
               say(inner / "cgroup.type", "threaded") && say(group / "cgroup.procs", pid) &&
               say(inner / "cgroup.threads", pid);
    }
    ~ThreadedGroup() {
        sleeper.reset();
        ::rmdir(inner.c_str());
        ::rmdir(group.c_str());
    }
    ThreadedGroup(const ThreadedGroup&) = delete;
    ThreadedGroup& operator=(const ThreadedGroup&) = delete;

    const CgroupLayout layout = layout_of(detect_cgroup_layout().v2);
    const std::string name = "svc-unit-" + std::to_string(::getpid());
    const fs::path group = layout.v2 / name;
    const fs::path inner = group / "threads";
    std::optional<Child> sleeper;
    bool made = false;
};

}  // namespace

TEST_CASE("a group whose members cannot be read is passed over if it is threaded, else not") {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-groups-");
    const fs::path inner = directory.path() / "one" / "inner";
    fs::create_directories(inner / "cgroup.procs");  // reading it fails
    REQUIRE(say(directory.path() / "one" / "cgroup.procs", ""));
    const auto kill = [&] { kill_group(layout_of(directory.path()), "one"); };
    SECTION("threaded") {
        REQUIRE(say(inner / "cgroup.type", "threaded\n"));
        CHECK_NOTHROW(kill());
    }
    SECTION("a domain") {
        REQUIRE(say(inner / "cgroup.type", "domain threaded\n"));
        CHECK_THROWS_AS(kill(), Error);
    }
    SECTION("of version 1") {
        CHECK_THROWS_AS(kill(), Error);
    }
}

TEST_CASE("groups are removed however deeply they are nested") {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-groups-");
    const std::string name(200, 'n');
    const std::size_t depth = GENERATE(0U, 9U, 10U, 30U, 300U);
    REQUIRE(::mkdir((directory.path() / "one").c_str(), 0700) == 0);
    FileDescriptor folder = open_file(directory.path() / "one", O_PATH | O_DIRECTORY);
    for (std::size_t level = 0; level < depth; ++level) {
        REQUIRE(::mkdirat(folder.get(), "beside", 0700) == 0);
        REQUIRE(::mkdirat(folder.get(), name.c_str(), 0700) == 0);
        folder = FileDescriptor(::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    remove_group(layout_of(directory.path()), "one");
    CHECK_FALSE(fs::exists(directory.path() / "one"));
}

TEST_CASE("processes in threaded groups are killed with the domain above, and the groups removed") {
    ThreadedGroup threaded;
    if (!threaded.made) test::skip("no threaded control group can be made here");
    kill_group(threaded.layout, threaded.name);
    CHECK_FALSE(identify_process(threaded.sleeper->pid()));
    remove_group(threaded.layout, threaded.name);
    CHECK_FALSE(fs::exists(threaded.group));
}

TEST_CASE("a process is alone while no group of any hierarchy has another") {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-groups-");
    const fs::path inner = directory.path() / "one" / "inner";
    fs::create_directories(inner);
    REQUIRE(say(directory.path() / "one" / "cgroup.procs", "70\n"));
    REQUIRE(say(inner / "cgroup.procs", ""));
    CHECK(is_alone(layout_of(directory.path()), "one", 70));
    CHECK_FALSE(is_alone(layout_of(directory.path()), "one", 71));
    CHECK_FALSE(is_alone(layout_of(directory.path()), "two", 70));
    REQUIRE(say(inner / "cgroup.procs", "72\n"));
    CHECK_FALSE(is_alone(layout_of(directory.path()), "one", 70));
}

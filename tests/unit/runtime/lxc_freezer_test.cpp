// Groups stand still and go on, by the freezer of either version of control groups.
#include "libsvc/runtime/lxc/host/freezer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <optional>

#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "tests/support/error_code.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::lxc;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

// The freezer of one version of this machine; nothing where it has none.
CgroupLayout freezer_of_version(int version) {
    const CgroupLayout machine = detect_cgroup_layout();
    CgroupLayout layout;
    if (version == 2) layout.v2 = machine.v2;
    if (version == 1 && machine.v1.contains("freezer")) layout.v1["freezer"] = machine.v1.at("freezer");
    return layout;
}

// A group with a process, as far as this machine lets us make one.
struct Group {
    explicit Group(const CgroupLayout& layout)
        : folder((layout.v2.empty() ? layout.v1.at("freezer") : layout.v2) / name) {
        SpawnOptions options;
        options.arguments = {"/bin/sleep", "600"};
        sleeper.emplace(options);
        if (::mkdir(folder.c_str(), 0755) != 0) return;
        std::ofstream members(folder / "cgroup.procs");
        members << sleeper->pid() << std::flush;
        made = members.good();
    }
    ~Group() {
        sleeper.reset();
        ::rmdir(folder.c_str());
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    std::string text(const char* file) const {
        std::ifstream stream(folder / file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    const std::string name = "svc-unit-" + std::to_string(::getpid());
    const fs::path folder;
    std::optional<Child> sleeper;
    bool made = false;
};

}  // namespace

TEST_CASE("a group stands still until it is thawed") {
    const int version = GENERATE(1, 2);
    const CgroupLayout layout = freezer_of_version(version);
    if (layout.v1.empty() && layout.v2.empty()) test::skip("needs a freezer of control groups");
    const Group group(layout);
    if (!group.made) test::skip("needs the right to make control groups");
    CHECK_FALSE(is_frozen(layout, group.name));
    freeze_group(layout, group.name, 10s);
    freeze_group(layout, group.name, 10s);
    CHECK(is_frozen(layout, group.name));
    if (version == 1)
        CHECK(group.text("freezer.state") == "FROZEN\n");
    else
        CHECK(group.text("cgroup.events").find("frozen 1\n") != std::string::npos);
    thaw_group(layout, group.name);
    thaw_group(layout, group.name);
    CHECK_FALSE(is_frozen(layout, group.name));
}

TEST_CASE("a group that does not stand still in time is thawed again") {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-freezer-");
    CgroupLayout layout;
    layout.v2 = directory.path();
    fs::create_directory(directory.path() / "busy");
    std::ofstream(directory.path() / "busy" / "cgroup.events") << "populated 1\nfrozen 0\n";
    std::ofstream(directory.path() / "busy" / "cgroup.freeze") << "0";
    CHECK(test::code_of([&] { freeze_group(layout, "busy", 0ms); }) == ErrorCode::unavailable);
    CHECK_FALSE(is_frozen(layout, "busy"));
}

TEST_CASE("a group that is gone is not frozen, and thawing it does nothing") {
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-freezer-");
    CgroupLayout layout;
    if (GENERATE(true, false))
        layout.v2 = directory.path();
    else
        layout.v1["freezer"] = directory.path();
    CHECK_NOTHROW(thaw_group(layout, "gone"));
    CHECK_FALSE(is_frozen(layout, "gone"));
    CHECK(fs::is_empty(directory.path()));
    CHECK(test::code_of([&] { freeze_group(layout, "gone", 0ms); }) == ErrorCode::unavailable);
}

TEST_CASE("a machine without a freezer says so") {
    CHECK(test::code_of([] { freeze_group({}, "any", 0ms); }) == ErrorCode::unsupported);
    CHECK_FALSE(is_frozen({}, "any"));
    CHECK_NOTHROW(thaw_group({}, "any"));
}

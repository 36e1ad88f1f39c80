#include "libsvc/runtime/lxc/host/kernel_setting.h"

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::lxc {

namespace {

// Sets kernel.pty.max, and returns what was told of it: the settings that could not be changed.
std::vector<std::string> told_of(const std::filesystem::path& settings, bool expected) {
    std::vector<std::string> told;
    log::set_listener([&](log::Level level, std::string_view, const log::Fields& fields) {
        if (level == log::Level::warning) told.push_back(fields.front().second);
    });
    const bool set = set_kernel_setting("kernel.pty.max", "16384", "terminals", settings);
    log::set_listener({});
    CHECK(set == expected);
    return told;
}

}  // namespace

TEST_CASE("a setting of the kernel is found by its name") {
    const TemporaryDirectory settings(std::filesystem::temp_directory_path(), "svc-settings-");
    std::filesystem::create_directories(settings.path() / "kernel/pty");
    CHECK(told_of(settings.path(), true).empty());
    CHECK(read_file(settings.path() / "kernel/pty/max", 64) == "16384\n");
}

TEST_CASE("a setting of the kernel that cannot be changed is told by its name and stops nothing") {
    const TemporaryDirectory settings(std::filesystem::temp_directory_path(), "svc-settings-");
    CHECK(told_of(settings.path(), false) == std::vector<std::string>{"kernel.pty.max"});
}

}  // namespace svc::lxc

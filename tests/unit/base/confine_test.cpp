#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "tests/support/skip.h"

using namespace std::chrono_literals;
using namespace svc;

namespace {

CommandResult confined(const std::string& script, std::chrono::milliseconds limit = 60s,
                       const Confinement& confinement = {}) {
    SpawnOptions options;
    options.arguments = {"/bin/sh", "-c", script};
    options.directory = "/";
    options.confinement = confinement;
    return run_command(std::move(options), limit);
}

// The lines of /proc/self/status by their names.
std::map<std::string, std::string> own_status() {
    std::map<std::string, std::string> fields;
    for (const std::string& line :
         split(confined("while read -r line; do echo \"$line\"; done </proc/self/status").output, '\n'))
        if (const std::size_t colon = line.find(':'); colon != line.npos)
            fields[line.substr(0, colon)] = trim(std::string_view(line).substr(colon + 1));
    return fields;
}

}  // namespace

TEST_CASE("a confined command has another user, no groups and no capabilities") {
    test::skip_unless_root();
    auto status = own_status();
    CHECK(status["Uid"] == "65534\t65534\t65534\t65534");
    CHECK(status["Gid"] == "65534\t65534\t65534\t65534");
    CHECK(status["Groups"].empty());
    CHECK(status["NoNewPrivs"] == "1");
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) CHECK(status[set] == "0000000000000000");
}

TEST_CASE("a confined command sees no network, no environment and starts no process") {
    test::skip_unless_root();
    const auto result = confined(
        "n=0; while read -r line; do n=$((n+1)); done </proc/self/net/dev; echo $n; echo \"$HOME$LC_ALL\"; "
        "(exit 0) && echo forked");
    CHECK(result.output.starts_with("3\n\n"));  // two lines of headings and `lo`
    CHECK(result.output.find("forked") == std::string::npos);
    CHECK(result.errors.find("fork") != std::string::npos);
}

TEST_CASE("a confined command writes no file and gets no more memory than it may have") {
    test::skip_unless_root();
    const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-confine-");
    REQUIRE(::chmod(folder.path().c_str(), 01777) == 0);
    const auto file = folder.path() / "file";
    CHECK(confined("echo text >" + file.native()).status.code != 0);
    CHECK(std::filesystem::file_size(file) == 0);
    Confinement small;
    small.memory_bytes = std::uint64_t{16} << 20;
    CHECK(confined("x=0123456789abcdef; while :; do x=$x$x; done", 60s, small).status.code != 0);
}

TEST_CASE("the time of a confined command ends, that of its processor and that of the clock") {
    test::skip_unless_root();
    Confinement short_time;
    short_time.cpu_seconds = 1;
    CHECK(confined("while :; do :; done", 60s, short_time).status.signal == SIGKILL);
    CHECK_THROWS_AS(confined("while :; do :; done", 50ms), Error);
}

TEST_CASE("a child that shall end with its parent may be confined") {
    test::skip_unless_root();
    SpawnOptions options;
    options.arguments = {"/bin/true"};
    options.ends_with_us = true;
    options.confinement = Confinement{};
    CHECK(run_command(std::move(options), 60s).status.code == 0);
}

TEST_CASE("without the right to confine nothing is run") {
    if (::geteuid() == 0) test::skip("needs a user other than root");
    CHECK_THROWS_AS(confined("exit 0"), Error);
}

#include "libsvc/base/log.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace {

// The standard error of `work`.
template <class Work>
std::string captured(Work&& work) {
    const svc::TemporaryDirectory tmp(std::filesystem::temp_directory_path());
    const svc::FileDescriptor file = svc::open_file(tmp.path() / "log", O_RDWR | O_CREAT);
    const svc::FileDescriptor before(::dup(2));
    ::dup2(file.get(), 2);
    work();
    ::dup2(before.get(), 2);
    return svc::read_file(tmp.path() / "log");
}

struct LevelGuard {
    svc::log::Level before = svc::log::level();
    ~LevelGuard() { svc::log::set_level(before); }
};

}  // namespace

TEST_CASE("a log line carries time, level, message and fields") {
    const std::string line = captured([] {
        const svc::log::Scope scope({"request", "r1"});
        svc::log::info("instance started", {{"id", "ab"}, {"text", "va lue \"q\"\nnext=1"}, {"none", ""}});
    });
    REQUIRE(line.size() > 25);
    std::string time = line.substr(0, 25);
    std::replace_if(
        time.begin(), time.end(), [](char c) { return c >= '0' && c <= '9'; }, '9');
    CHECK(time == "9999-99-99T99:99:99.999Z ");
    CHECK(line.substr(25) ==
          "info instance started request=r1 id=ab text=\"va lue \\\"q\\\"\\nnext=1\" none=\"\"\n");
}

TEST_CASE("a log message cannot forge a second line") {
    const std::string line = captured([] { svc::log::error("a\nb\x1b[31m"); });
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    CHECK(line.find('\x1b') == std::string::npos);
}

TEST_CASE("lines below the level are neither written nor told") {
    const LevelGuard guard;
    svc::log::set_level(svc::log::Level::warning);
    std::vector<std::string> told;
    svc::log::set_listener(
        [&](svc::log::Level level, std::string_view message, const svc::log::Fields& fields) {
            told.push_back(std::string(svc::log::to_text(level)) + " " + std::string(message) + " " +
                           fields.at(0).second);
            svc::log::error("nested");  // written, not told again
        });
    const std::string text = captured([] {
        svc::log::info("hidden", {{"k", "v"}});
        svc::log::warning("shown", {{"k", "v"}});
    });
    svc::log::set_listener({});
    captured([] { svc::log::error("after", {{"k", "v"}}); });
    CHECK(told == std::vector<std::string>{"warning shown v"});
    CHECK(text.find("hidden") == std::string::npos);
    CHECK(text.find("nested") != std::string::npos);
}

TEST_CASE("log levels read back from their names") {
    using svc::log::Level;
    for (Level level : {Level::debug, Level::info, Level::warning, Level::error})
        CHECK(svc::log::parse_level(svc::log::to_text(level)) == level);
    CHECK_THROWS_AS(svc::log::parse_level("loud"), svc::Error);
}

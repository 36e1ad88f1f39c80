#include "instance-agent/agent/logging/log_file.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace svc;

TEST_CASE("the agent's log lines are kept in a file, one line each") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "agent-log-");
    const auto path = directory.path() / "logs/agent.log";
    {
        const agent::LogFile file(path);
        log::info("guest is up", {{"port", "80"}});
        log::warning("two\nlines", {{"text", "a\nb"}});
    }
    log::info("not in the file");
    const std::string text = read_file(path);
    CHECK_THAT(text, Catch::Contains(" info guest is up port=\"80\"\n"));
    CHECK_THAT(text, Catch::Contains(" warning two lines text=\"a\\nb\"\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("a full log file starts anew and keeps one old one") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "agent-log-");
    const auto path = directory.path() / "agent.log";
    const agent::LogFile file(path, 100);
    for (const auto* text :
         {"first line of some length", "second line of some length", "third line of some length"})
        log::info(text);
    CHECK_THAT(read_file(path), Catch::Contains("third"));
    CHECK_THAT(read_file(path.string() + ".1"), !Catch::Contains("third"));
}

TEST_CASE("a log file that cannot be made is done without") {
    const agent::LogFile file("/proc/nowhere/agent.log");
    CHECK_NOTHROW(log::info("still alive"));
}

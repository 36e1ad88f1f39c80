#include <catch2/catch.hpp>

#include "tests/cli/parse.h"

using namespace svc::cli;
using svc::test::parse;

TEST_CASE("flags stand before, between and after a command's words") {
    const auto invocation = parse({"--socket", "/s", "show", "-ojson", "abc"});
    REQUIRE(invocation.command != nullptr);
    CHECK(invocation.arguments.text("socket") == "/s");
    CHECK(invocation.arguments.text("format") == "json");
    CHECK(invocation.arguments.text("id") == "abc");
    CHECK(parse({"--socket=/s", "image", "show", "list"}).arguments.text("image") == "list");
    CHECK(parse({"image", "show", "x", "--socket=/s"}).arguments.text("socket") == "/s");
}

TEST_CASE("a flag that was not given has its initial value") {
    const auto arguments = parse({"launch", "abc"}).arguments;
    CHECK(arguments.text("instance-type") == "a2.3");
    CHECK(arguments.integer("gpu-slots") == -1);
    CHECK_FALSE(arguments.integer("cpus"));
    CHECK_FALSE(arguments.is_set("no-wait"));
}

TEST_CASE("negative numbers are values, not flags") {
    CHECK(parse({"launch", "abc", "-g", "-1", "--version", "-1"}).arguments.integer("gpu-slots") == -1);
}

TEST_CASE("what follows -- is the command, whatever it looks like") {
    const auto arguments = parse({"exec", "abc", "--", "ls", "--help", "-l", "--"}).arguments;
    CHECK(arguments.text("id") == "abc");
    CHECK(arguments.list("command") == std::vector<std::string>{"ls", "--help", "-l", "--"});
    CHECK(parse({"exec", "abc", "ls", "/"}).arguments.list("command") == std::vector<std::string>{"ls", "/"});
}

TEST_CASE("repeatable flags keep their order and take one value each") {
    const auto arguments =
        parse({"launch", "-s", "tcp:1", "-s", "udp:2", "abc", "--tags", "a,b", "--tags", "c"}).arguments;
    CHECK(arguments.list("service") == std::vector<std::string>{"tcp:1", "udp:2"});
    CHECK(arguments.comma_list("tags") == std::vector<std::string>{"a", "b", "c"});
    CHECK(arguments.text("source") == "abc");
}

TEST_CASE("aliases name the same command") {
    CHECK(parse({"ls"}).command == parse({"list"}).command);
    CHECK(parse({"image", "rm", "x"}).command == parse({"image", "delete", "x"}).command);
}

TEST_CASE("several ids are one list") {
    CHECK(parse({"delete", "a", "b", "-y", "c"}).arguments.list("id") ==
          std::vector<std::string>{"a", "b", "c"});
}

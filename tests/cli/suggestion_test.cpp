#include "cli/command_line/suggestion.h"

#include <catch2/catch.hpp>

using svc::cli::nearest;
using svc::cli::suggestion;

using Words = std::vector<std::string>;

TEST_CASE("one slip of each kind is seen through") {
    const Words known{"show", "delete", "list"};
    for (const std::string slip : {"delte", "deelete", "delate", "deltee", "dlete"})
        CHECK(nearest(slip, known) == "delete");
}

TEST_CASE("short words may have one slip, longer ones two") {
    CHECK(nearest("lsa", {"list"}).empty());
    CHECK(nearest("lst", {"list"}) == "list");
    CHECK(nearest("aplicaton", {"application"}) == "application");
    CHECK(nearest("aplicatn", {"application"}).empty());
}

TEST_CASE("the nearest counts, and the first of equals") {
    CHECK(nearest("stat", {"start", "stop", "status"}) == "start");
    CHECK(nearest("web1", {"web2", "web3"}) == "web2");
    CHECK(nearest("base-imag", {"bare-imag", "base-image"}) == "bare-imag");
}

TEST_CASE("a beginning of two letters is enough where nothing is near") {
    CHECK(nearest("appl", {"addon", "application"}) == "application");
    CHECK(nearest("a", {"addon"}).empty());
    CHECK(nearest("", {"addon"}).empty());
}

TEST_CASE("nothing is suggested where nothing is known or near") {
    CHECK(suggestion("fly", {"list", "delete"}).empty());
    CHECK(suggestion("fly", {}).empty());
    CHECK(suggestion("delte", {"list", "delete"}) == "; did you mean 'delete'?");
}

// Test cases that skip_test.py runs, to see what a skip does to the program's output and exit status.
#include <catch2/catch.hpp>

#include "tests/support/skip.h"

namespace svc::test {
namespace {

TEST_CASE("a case that passes", "[passes]") {
    CHECK(1 + 1 == 2);
}

TEST_CASE("a case that fails", "[fails]") {
    CHECK(1 + 1 == 3);
}

TEST_CASE("a case that is skipped", "[skips]") {
    skip("needs a unicorn");
    FAIL("a skip ends the case");
}

TEST_CASE("a case that is skipped for one value", "[values]") {
    const int value = GENERATE(1, 2, 3);
    if (value == 2) skip("2 is not here");
    CHECK(value != 2);
}

TEST_CASE("a case that is skipped in one section", "[sections]") {
    SECTION("the first") {
        skip("the first is not here");
    }
    SECTION("the second") {
        CHECK(true);
    }
}

}  // namespace
}  // namespace svc::test

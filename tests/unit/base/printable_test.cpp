#include "libsvc/base/printable.h"

#include <catch2/catch.hpp>

TEST_CASE("of a text from outside what cannot be shown is replaced, and characters stay whole") {
    CHECK(svc::plain_text("a\n\x01\x7F"
                          "b",
                          9) == "a???b");
    CHECK(svc::plain_text("/1.0/\xFF\xC3", 9) == "/1.0/??");
    CHECK(svc::plain_text("a\xC3\xA9"
                          "b",
                          2) == "a");
    CHECK(svc::plain_text("a\xC3\xA9"
                          "b",
                          3) == "a\xC3\xA9");
    CHECK(svc::plain_text(std::string(5000, '\x01'), 1024) == std::string(1024, '?'));
    CHECK(svc::plain_text("", 0).empty());
}

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

TEST_CASE("characters that command a terminal, or show a text as another one, are replaced") {
    CHECK(svc::plain_text("\xC2\x9B"
                          "31m\xC2\x80\xC2\x9F\xC2\xA0",
                          32) == "??31m????\xC2\xA0");
    CHECK(svc::plain_text("\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xAE\xE2\x80\xAF", 32) ==
          "\xE2\x80\xA7??????\xE2\x80\xAF");
    CHECK(svc::plain_text("\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xAA", 32) == "??????\xE2\x81\xAA");
    CHECK(svc::plain_text("\xF0\x9F\x98\x80", 8) == "\xF0\x9F\x98\x80");
}

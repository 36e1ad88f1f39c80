#include "libsvc/base/strings.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

TEST_CASE("split and join undo each other") {
    CHECK(svc::split("", ',').empty());
    CHECK(svc::split("a,,b,", ',') == std::vector<std::string>{"a", "", "b", ""});
    CHECK(svc::join(svc::split("a,,b,", ','), ",") == "a,,b,");
}

TEST_CASE("trim and case work on ASCII") {
    CHECK(svc::trim(" \t a b\r\n") == "a b");
    CHECK(svc::trim(" \n").empty());
    CHECK(svc::to_lower("ÄBc") == "Äbc");
    CHECK(svc::iequals("Content-Length", "content-length"));
    CHECK_FALSE(svc::iequals("a", "ab"));
}

TEST_CASE("percent encoding round trips any byte") {
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    CHECK(svc::percent_decode(svc::percent_encode(all)) == all);
    CHECK(svc::percent_encode("a b/ü~") == "a%20b%2F%C3%BC~");
    CHECK(svc::percent_decode("a+b", true) == "a b");
    CHECK(svc::percent_decode("a+b") == "a+b");
    for (const char* bad : {"%", "%4", "%4g", "a%zz", "%%41"})
        CHECK_THROWS_AS(svc::percent_decode(bad), svc::Error);
}

TEST_CASE("quoted text is one line of bounded length") {
    CHECK(svc::quoted("a\nb") == "'a\\x0Ab'");
    CHECK(svc::quoted(std::string(128, 'x')) == "'" + std::string(128, 'x') + "'");
    CHECK(svc::quoted(std::string(129, 'x')) == "'" + std::string(128, 'x') + "...'");
    CHECK(svc::quoted(std::string(127, 'x') + "é") ==
          "'" + std::string(127, 'x') + "...'");  // no half character
    CHECK(svc::quoted("\xFF"
                      "a\xC3\xA9\xC3") == "'\\xFFa\xC3\xA9\\xC3'");  // what is no UTF-8
    CHECK(svc::quoted("\xED\xA0\x80") == "'\\xED\\xA0\\x80'");
    CHECK(svc::quoted("\xF0\x9F\x98\x80") == "'\xF0\x9F\x98\x80'");
}

#include "libsvc/model/values/web_origin.h"

#include <catch2/catch.hpp>

namespace svc::test {

TEST_CASE("an origin is https, a host and perhaps a port") {
    for (const char* text : {"https://gateway.example", "https://gateway.example:4000", "https://GW:1",
                             "https://192.0.2.10:65535", "https://a"}) {
        INFO(text);
        CHECK(is_web_origin(text));
    }
}

TEST_CASE("what would say more in a policy is no origin") {
    for (const char* text : {"",
                             "https://",
                             "http://gateway.example",
                             "gateway.example:4000",
                             "HTTPS://gateway.example",
                             "*",
                             "https://*",
                             "https://*.example",
                             "https://gateway.example/",
                             "https://gateway.example/page",
                             "https://gateway.example?x",
                             "https://gateway.example#x",
                             "https://user@gateway.example",
                             "https://gateway.example:",
                             "https://gateway.example:0",
                             "https://gateway.example:65536",
                             "https://gateway.example:+1",
                             "https://gateway.example:4000:1",
                             "https://gateway.example:*",
                             "https://[::1]:4000",
                             "https://a b",
                             "https://a;script-src *",
                             "https://a,b",
                             "https://a'",
                             "https://a\nb",
                             "https://.a",
                             "https://a..b",
                             "javascript:alert(1)",
                             "https:gateway"}) {
        INFO(text);
        CHECK_FALSE(is_web_origin(text));
    }
    CHECK_FALSE(is_web_origin("https://" + std::string(254, 'a')));
}

}  // namespace svc::test

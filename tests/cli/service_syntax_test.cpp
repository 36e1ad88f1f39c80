#include "cli/command_line/service_syntax.h"

#include <catch2/catch.hpp>

#include "cli/command_line/command.h"

using namespace svc;
using cli::parse_service;

TEST_CASE("services are read in every form") {
    const ServiceEntry full = parse_service("+web:udp,tcp:8000-8010");
    CHECK(full.expose);
    CHECK(full.name == "web");
    CHECK(full.protocols == std::vector<std::string>{"tcp", "udp"});
    CHECK(full.port == 8000);
    CHECK(full.port_end == 8010);

    const ServiceEntry least = parse_service("udp:53");
    CHECK_FALSE(least.expose);
    CHECK(least.name.empty());
    CHECK(least.port == 53);
    CHECK(least.port_end == 0);

    CHECK(parse_service("ssh").port == 22);
    CHECK(parse_service("+adb").port == 5559);
    CHECK(parse_service("+adb").expose);
}

TEST_CASE("what is no service is refused") {
    for (const auto* text : {"", "+", "tcp", "tcp:", "tcp:0", "tcp:65536", "tcp:x", "http:80", ":80",
                             "a:b:c:d", "tcp:9-8", "tcp:1-", "tcp,tcp:1", "tcp:-1"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_service(text), cli::UsageError);
    }
}

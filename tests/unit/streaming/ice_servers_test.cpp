#include "libsvc/streaming/ice_servers.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

using namespace svc;

namespace {

IceConfig with_turn(std::vector<std::string> urls) {
    IceConfig config;
    config.turn_urls = std::move(urls);
    config.turn_secret = "north";
    return config;
}

}  // namespace

TEST_CASE("nothing configured is an empty array and never null") {
    CHECK(ice_servers({}, "s1", from_unix_seconds(0)) == Json::array());
}

TEST_CASE("STUN servers carry no credentials") {
    IceConfig config;
    config.stun_urls = {"stun:stun.example:3478"};
    CHECK(ice_servers(config, "s1", from_unix_seconds(0)).dump() ==
          R"([{"urls":["stun:stun.example:3478"]}])");
}

// The password is `printf 1433898165:s1 | openssl dgst -sha1 -hmac north -binary | base64`.
TEST_CASE("TURN credentials have the form of coturn's shared secret") {
    auto config = with_turn({"turn:turn.example:5349?transport=udp"});
    config.turn_ttl = std::chrono::seconds(165);
    const auto servers = ice_servers(config, "s1", from_unix_seconds(1433898000));
    REQUIRE(servers.as_array().size() == 1);
    CHECK(servers.as_array()[0].at("username").as_string() == "1433898165:s1");
    CHECK(servers.as_array()[0].at("password").as_string() == "cRVfI5OKCxsHLi9Ppj9lI2U05M4=");
}

TEST_CASE("what a browser would refuse as an ICE URL is refused") {
    for (const char* url :
         {"https://turn.example:1", "turn:", "turn:host", "turn:host:0", "turn:host:70000", "turn:a b:1",
          "turn:host:1?transport=sctp", "stun:host:1", "turn:[::1:1", "turn:user@host:1"}) {
        INFO(url);
        CHECK_THROWS_AS(with_turn({url}).check(), Error);
    }
    CHECK_NOTHROW(with_turn({"turn:host:1", "turns:host:5349?transport=tcp", "turn:[::1]:3478"}).check());
}

TEST_CASE("TURN servers without a secret are refused") {
    auto config = with_turn({"turn:host:1"});
    config.turn_secret.clear();
    CHECK_THROWS_WITH(config.check(), "TURN servers need a shared secret");
}

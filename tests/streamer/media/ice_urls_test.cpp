#include "instance-agent/streamer/media/peer/ice_urls.h"

#include <catch2/catch.hpp>

namespace svc::streamer {
namespace {

TEST_CASE("addresses of STUN and TURN servers are put as the library wants them") {
    const IceUrls urls = ice_urls({{{"stun:stun.example.com"}, "", ""},
                                   {{"turn:turn.example.com:3479?transport=udp", "turns:turn.example.com"},
                                    "1700000000:ab12",
                                    "a/b+c="}});
    CHECK(urls.stun == "stun://stun.example.com:3478");
    REQUIRE(urls.turn.size() == 2);
    CHECK(urls.turn[0] == "turn://1700000000%3Aab12:a%2Fb%2Bc%3D@turn.example.com:3479?transport=udp");
    CHECK(urls.turn[1] == "turns://1700000000%3Aab12:a%2Fb%2Bc%3D@turn.example.com:5349");
}

TEST_CASE("addresses of IPv6 get their port behind the bracket") {
    CHECK(ice_urls({{{"stun:[::1]"}, "", ""}}).stun == "stun://[::1]:3478");
    CHECK(ice_urls({{{"stun:[::1]:99"}, "", ""}}).stun == "stun://[::1]:99");
}

TEST_CASE("what is no server is left out") {
    const IceUrls urls = ice_urls({{{"", "stun", "stun:", "http://x", "turn:host"}, "", ""}});
    CHECK(urls.stun.empty());
    CHECK(urls.turn.empty());
}

}  // namespace
}  // namespace svc::streamer

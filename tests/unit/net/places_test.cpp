// How many connections and how much memory each kind of peer may have.
#include <catch2/catch.hpp>

#include "libsvc/net/server/places.h"
#include "libsvc/net/socket/network_of.h"

using namespace svc;
using net::Place;
using net::Places;

namespace {

using PlacesHeld = std::vector<std::unique_ptr<Place>>;

ServerLimits small_limits() {
    ServerLimits limits;
    limits.max_connections = 20;
    limits.reserved_connections = 4;
    limits.buffered_bytes = 800'000;
    limits.untrusted_bytes = 200'000;
    limits.untrusted_bytes_each = 50'000;
    return limits;
}

ListenerLimits listener_for(Standing standing, std::size_t untrusted = 8, std::size_t each = 3) {
    ListenerLimits listener;
    listener.standing = [standing](const Peer&) { return standing; };
    listener.untrusted = untrusted;
    listener.each = each;
    return listener;
}

Peer tcp_peer(const std::string& address) {
    Peer peer;
    peer.transport = Transport::https;
    peer.listener = "tls";
    peer.address = address;
    return peer;
}

// As many as it gets.
PlacesHeld take_all(Places& places, const ListenerLimits& listener, const Peer& peer) {
    PlacesHeld held;
    while (auto place = places.take(listener, peer)) held.push_back(std::move(place));
    return held;
}

}  // namespace

TEST_CASE("root finds a place however many others there are") {
    Places places(small_limits());
    const PlacesHeld trusted = take_all(places, listener_for(Standing::trusted), Peer());
    CHECK(trusted.size() == 16);
    CHECK_FALSE(places.take(listener_for(Standing::untrusted), tcp_peer("192.0.2.1")));
    const PlacesHeld reserved = take_all(places, listener_for(Standing::reserved), Peer());
    CHECK(reserved.size() == 4);
    CHECK(places.taken() == 20);
}

TEST_CASE("a listener without limits may have every place") {
    Places places(small_limits());
    CHECK(take_all(places, ListenerLimits(), Peer()).size() == 20);
    CHECK(places.taken() == 0);
}

TEST_CASE("a small server keeps a quarter of its places at most") {
    ServerLimits limits = small_limits();
    limits.max_connections = 4;
    limits.reserved_connections = 64;
    Places places(limits);
    CHECK(take_all(places, listener_for(Standing::trusted), Peer()).size() == 3);
}

TEST_CASE("peers that are not trusted have few places each and together") {
    Places places(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted);
    const PlacesHeld first = take_all(places, listener, tcp_peer("192.0.2.1"));
    const PlacesHeld network = take_all(places, listener, tcp_peer("2001:db8:1:2::1"));
    CHECK(first.size() == 3);
    CHECK(network.size() == 3);
    CHECK_FALSE(places.take(listener, tcp_peer("2001:db8:1:2:ffff::9")));
    CHECK(take_all(places, listener, tcp_peer("192.0.2.2")).size() == 2);
    Peer elsewhere = tcp_peer("192.0.2.1");
    elsewhere.listener = "hypervisor";
    CHECK(take_all(places, listener, elsewhere).size() == 3);
}

TEST_CASE("the peer with the most places loses its oldest to one with fewer") {
    Places places(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted, 6, 5);
    PlacesHeld many = take_all(places, listener, tcp_peer("192.0.2.1"));
    REQUIRE(many.size() == 5);
    std::vector<std::size_t> closed;
    for (std::size_t i = 0; i < many.size(); ++i) many[i]->give_way_by([&closed, i] { closed.push_back(i); });
    PlacesHeld others = take_all(places, listener, tcp_peer("192.0.2.2"));
    CHECK(others.size() == 3);  // one was free
    CHECK(closed == std::vector<std::size_t>{0, 1});
    CHECK_FALSE(places.take(listener, tcp_peer("192.0.2.1")));
    CHECK(places.take(listener, tcp_peer("192.0.2.3")));
    CHECK(closed == std::vector<std::size_t>{0, 1, 2});
    many[3]->raise(Standing::trusted);
    many.clear();
    others.clear();
    CHECK(places.taken() == 0);
}

TEST_CASE("a place that is given back is free") {
    Places places(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted);
    for (int i = 0; i < 5; ++i) CHECK(take_all(places, listener, tcp_peer("192.0.2.1")).size() == 3);
    CHECK(places.taken() == 0);
    CHECK(places.wait_until_none(std::chrono::milliseconds(0)));
}

TEST_CASE("who has proved himself does not count for his address any more") {
    Places places(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted);
    const PlacesHeld first = take_all(places, listener, tcp_peer("192.0.2.1"));
    for (const auto& place : first) place->raise(Standing::trusted);
    CHECK(take_all(places, listener, tcp_peer("192.0.2.1")).size() == 3);
    first.front()->raise(Standing::untrusted);
    CHECK(first.front()->standing() == Standing::trusted);
}

TEST_CASE("the memory of peers is limited by what they are") {
    Places places(small_limits());
    const auto strangers = listener_for(Standing::untrusted, 8, 8);
    const auto one = places.take(strangers, tcp_peer("192.0.2.1"));
    const auto same = places.take(strangers, tcp_peer("192.0.2.1"));
    CHECK(one->hold(40'000));
    CHECK_FALSE(same->hold(20'000));
    CHECK(one->hold(10'000));
    CHECK(same->hold(20'000));
    PlacesHeld others;
    for (int i = 2; i < 6; ++i)
        others.push_back(places.take(strangers, tcp_peer("192.0.2." + std::to_string(i))));
    for (std::size_t i = 0; i < 3; ++i) CHECK(others[i]->hold(50'000));
    CHECK_FALSE(others[3]->hold(50'000));
    const auto trusted = places.take(listener_for(Standing::trusted), Peer());
    CHECK(trusted->hold(420'000));
    CHECK_FALSE(trusted->hold(420'001));
    const auto root = places.take(listener_for(Standing::reserved), Peer());
    CHECK(root->hold(200'000));
    CHECK_FALSE(root->hold(200'001));
}

TEST_CASE("the memory of an ordinary header is not counted") {
    Places places(small_limits());
    PlacesHeld held;
    for (int i = 0; i < 16; ++i) held.push_back(places.take(listener_for(Standing::trusted), Peer()));
    for (const auto& place : held) CHECK(place->hold(4096));
    CHECK(held.front()->hold(600'000));
}

TEST_CASE("what a connection held is free when it ends or has proved itself") {
    Places places(small_limits());
    const auto strangers = listener_for(Standing::untrusted);
    for (int i = 0; i < 10; ++i) CHECK(places.take(strangers, tcp_peer("192.0.2.1"))->hold(50'000));
    const auto proved = places.take(strangers, tcp_peer("192.0.2.1"));
    CHECK(proved->hold(50'000));
    proved->raise(Standing::trusted);
    CHECK(places.take(strangers, tcp_peer("192.0.2.1"))->hold(50'000));
}

TEST_CASE("a peer is an address or an IPv6 network") {
    CHECK(network_of("192.0.2.1") == "192.0.2.1");
    CHECK(network_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64");
    CHECK(network_of("fe80::1%eth0") == "fe80::/64");
    CHECK(network_of("::ffff:192.0.2.1") == "192.0.2.1");
    CHECK(network_of("nonsense") == "nonsense");
}

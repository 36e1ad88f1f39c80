// How many connections and how much memory each kind of peer may have.
#include <catch2/catch.hpp>

#include "libsvc/net/server/connection_limiter.h"
#include "libsvc/net/socket/network_of.h"

using namespace svc;
using net::ConnectionLimiter;
using net::ConnectionSlot;

namespace {

using Slots = std::vector<std::unique_ptr<ConnectionSlot>>;

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
Slots acquire_all(ConnectionLimiter& limiter, const ListenerLimits& listener, const Peer& peer) {
    Slots held;
    while (auto slot = limiter.acquire(listener, peer)) held.push_back(std::move(slot));
    return held;
}

}  // namespace

TEST_CASE("root finds a free slot however many others there are") {
    ConnectionLimiter limiter(small_limits());
    const Slots trusted = acquire_all(limiter, listener_for(Standing::trusted), Peer());
    CHECK(trusted.size() == 16);
    CHECK_FALSE(limiter.acquire(listener_for(Standing::untrusted), tcp_peer("192.0.2.1")));
    const Slots reserved = acquire_all(limiter, listener_for(Standing::reserved), Peer());
    CHECK(reserved.size() == 4);
    CHECK(limiter.taken() == 20);
}

TEST_CASE("a listener without limits may have every slot") {
    ConnectionLimiter limiter(small_limits());
    CHECK(acquire_all(limiter, ListenerLimits(), Peer()).size() == 20);
    CHECK(limiter.taken() == 0);
}

TEST_CASE("a small server reserves a quarter of its slots at most") {
    ServerLimits limits = small_limits();
    limits.max_connections = 4;
    limits.reserved_connections = 64;
    ConnectionLimiter limiter(limits);
    CHECK(acquire_all(limiter, listener_for(Standing::trusted), Peer()).size() == 3);
}

TEST_CASE("peers that are not trusted have few slots each and together") {
    ConnectionLimiter limiter(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted);
    const Slots first = acquire_all(limiter, listener, tcp_peer("192.0.2.1"));
    const Slots network = acquire_all(limiter, listener, tcp_peer("2001:db8:1:2::1"));
    CHECK(first.size() == 3);
    CHECK(network.size() == 3);
    CHECK_FALSE(limiter.acquire(listener, tcp_peer("2001:db8:1:2:ffff::9")));
    CHECK(acquire_all(limiter, listener, tcp_peer("192.0.2.2")).size() == 2);
    Peer elsewhere = tcp_peer("192.0.2.1");
    elsewhere.listener = "hypervisor";
    CHECK(acquire_all(limiter, listener, elsewhere).size() == 3);
}

TEST_CASE("the peer with the most slots loses its oldest to one with fewer") {
    ConnectionLimiter limiter(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted, 6, 5);
    Slots many = acquire_all(limiter, listener, tcp_peer("192.0.2.1"));
    REQUIRE(many.size() == 5);
    std::vector<std::size_t> closed;
    for (std::size_t i = 0; i < many.size(); ++i) many[i]->on_evict([&closed, i] { closed.push_back(i); });
    Slots others = acquire_all(limiter, listener, tcp_peer("192.0.2.2"));
    CHECK(others.size() == 3);  // one was free
    CHECK(closed == std::vector<std::size_t>{0, 1});
    CHECK_FALSE(limiter.acquire(listener, tcp_peer("192.0.2.1")));
    CHECK(limiter.acquire(listener, tcp_peer("192.0.2.3")));
    CHECK(closed == std::vector<std::size_t>{0, 1, 2});
    many[3]->raise(Standing::trusted);
    many.clear();
    others.clear();
    CHECK(limiter.taken() == 0);
}

TEST_CASE("a slot that is released is free") {
    ConnectionLimiter limiter(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted);
    for (int i = 0; i < 5; ++i) CHECK(acquire_all(limiter, listener, tcp_peer("192.0.2.1")).size() == 3);
    CHECK(limiter.taken() == 0);
    CHECK(limiter.wait_until_none(std::chrono::milliseconds(0)));
}

TEST_CASE("who has proved himself does not count for his address any more") {
    ConnectionLimiter limiter(small_limits());
    const ListenerLimits listener = listener_for(Standing::untrusted);
    const Slots first = acquire_all(limiter, listener, tcp_peer("192.0.2.1"));
    for (const auto& slot : first) slot->raise(Standing::trusted);
    CHECK(acquire_all(limiter, listener, tcp_peer("192.0.2.1")).size() == 3);
    first.front()->raise(Standing::untrusted);
    CHECK(first.front()->standing() == Standing::trusted);
}

TEST_CASE("the memory of peers is limited by what they are") {
    ConnectionLimiter limiter(small_limits());
    const auto untrusted_listener = listener_for(Standing::untrusted, 8, 8);
    const auto one = limiter.acquire(untrusted_listener, tcp_peer("192.0.2.1"));
    const auto same = limiter.acquire(untrusted_listener, tcp_peer("192.0.2.1"));
    CHECK(one->charge(40'000));
    CHECK_FALSE(same->charge(20'000));
    CHECK(one->charge(10'000));
    CHECK(same->charge(20'000));
    Slots others;
    for (int i = 2; i < 6; ++i)
        others.push_back(limiter.acquire(untrusted_listener, tcp_peer("192.0.2." + std::to_string(i))));
    for (std::size_t i = 0; i < 3; ++i) CHECK(others[i]->charge(50'000));
    CHECK_FALSE(others[3]->charge(50'000));
    const auto trusted = limiter.acquire(listener_for(Standing::trusted), Peer());
    CHECK(trusted->charge(420'000));
    CHECK_FALSE(trusted->charge(420'001));
    const auto root = limiter.acquire(listener_for(Standing::reserved), Peer());
    CHECK(root->charge(200'000));
    CHECK_FALSE(root->charge(200'001));
}

TEST_CASE("the memory of an ordinary header is not counted") {
    ConnectionLimiter limiter(small_limits());
    Slots held;
    for (int i = 0; i < 16; ++i) held.push_back(limiter.acquire(listener_for(Standing::trusted), Peer()));
    for (const auto& slot : held) CHECK(slot->charge(4096));
    CHECK(held.front()->charge(600'000));
}

TEST_CASE("what a connection held is free when it ends or has proved itself") {
    ConnectionLimiter limiter(small_limits());
    const auto untrusted_listener = listener_for(Standing::untrusted);
    for (int i = 0; i < 10; ++i)
        CHECK(limiter.acquire(untrusted_listener, tcp_peer("192.0.2.1"))->charge(50'000));
    const auto proved = limiter.acquire(untrusted_listener, tcp_peer("192.0.2.1"));
    CHECK(proved->charge(50'000));
    proved->raise(Standing::trusted);
    CHECK(limiter.acquire(untrusted_listener, tcp_peer("192.0.2.1"))->charge(50'000));
}

TEST_CASE("a peer is an address or an IPv6 network") {
    CHECK(network_of("192.0.2.1") == "192.0.2.1");
    CHECK(network_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64");
    CHECK(network_of("fe80::1%eth0") == "fe80::/64");
    CHECK(network_of("::ffff:192.0.2.1") == "192.0.2.1");
    CHECK(network_of("nonsense") == "nonsense");
}

#include <catch2/catch.hpp>

#include "libsvc/services/nodes/address_pool.h"
#include "libsvc/services/nodes/port_pool.h"
#include "tests/support/error_code.h"

using namespace svc;

TEST_CASE("ports are taken lowest first and come back") {
    PortPool ports(10000, 10003);
    CHECK(ports.take(1) == 10000);
    CHECK(ports.take(1) == 10001);
    ports.give_back(10000, 1);
    CHECK(ports.take(1) == 10000);
    CHECK(ports.free() == 2);
}

TEST_CASE("a range of ports is one block in a row") {
    PortPool ports(10000, 10005);
    CHECK(ports.take(2) == 10000);
    CHECK(ports.take(1) == 10002);
    ports.give_back(10000, 2);
    CHECK(ports.take(3) == 10003);
    CHECK(ports.take(3) == 0);
    CHECK(ports.free() == 2);
}

TEST_CASE("taken ports and strangers cannot be taken exactly") {
    PortPool ports(10000, 10005);
    CHECK(ports.take_exactly(10004, 2));
    CHECK_FALSE(ports.take_exactly(10003, 2));
    CHECK_FALSE(ports.take_exactly(10005, 2));
    CHECK_FALSE(ports.take_exactly(9999, 1));
}

TEST_CASE("the smallest subnet gives all but network, gateway and broadcast") {
    AddressPool addresses("192.168.100.1/30");
    CHECK(addresses.free() == 1);
    CHECK(addresses.take() == "192.168.100.2");
    CHECK(addresses.take() == std::nullopt);
    addresses.give_back("192.168.100.2");
    CHECK(addresses.take() == "192.168.100.2");
}

TEST_CASE("ports that were given back are taken again, lowest first") {
    PortPool ports(100, 109);
    for (std::uint16_t i = 100; i < 108; ++i) REQUIRE(ports.take(1) == i);
    CHECK(ports.take(3) == 0);
    CHECK(ports.take(2) == 108);
    CHECK(ports.take(1) == 0);
    ports.give_back(103, 2);
    CHECK(ports.take(3) == 0);
    CHECK(ports.take(1) == 103);
    ports.give_back(101, 1);
    CHECK(ports.take(1) == 101);
    CHECK(ports.take(1) == 104);
}

TEST_CASE("addresses are taken lowest first, over the bounds of a word") {
    AddressPool addresses("10.0.0.1/24");
    for (int i = 2; i < 255; ++i) REQUIRE(addresses.take() == "10.0.0." + std::to_string(i));
    CHECK(addresses.take() == std::nullopt);
    CHECK(addresses.free() == 0);
    addresses.give_back("10.0.0.200");
    addresses.give_back("10.0.0.7");
    CHECK(addresses.take() == "10.0.0.7");
    CHECK(addresses.take() == "10.0.0.200");
}

TEST_CASE("a gateway in the middle is left out") {
    AddressPool addresses("10.0.0.2/29");
    CHECK(addresses.take() == "10.0.0.1");
    CHECK(addresses.take() == "10.0.0.3");
}

TEST_CASE("network, gateway, broadcast and strangers cannot be taken exactly") {
    AddressPool addresses("10.0.0.1/24");
    for (const char* address : {"10.0.0.0", "10.0.0.1", "10.0.0.255", "10.0.1.2", "", "x"})
        CHECK_FALSE(addresses.take_exactly(address));
    CHECK(addresses.take_exactly("10.0.0.9"));
    CHECK_FALSE(addresses.take_exactly("10.0.0.9"));
}

TEST_CASE("a subnet must have a prefix of 8 to 30") {
    for (const char* subnet : {"10.0.0.1", "10.0.0.1/31", "10.0.0.1/7", "10.0.0/24", "10.0.0.1/2x"})
        CHECK(test::code_of([&] { AddressPool pool(subnet); }) == ErrorCode::invalid_argument);
}

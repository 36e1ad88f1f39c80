#include "libsvc/runtime/lxc/network/netlink_request.h"

#include <linux/rtnetlink.h>

#include <bit>
#include <catch2/catch.hpp>

namespace svc::lxc {

namespace {

constexpr std::uint32_t body = 0x04030201;

std::string request_text(std::string_view attributes, std::uint32_t sequence = 0) {
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + sizeof body + attributes.size());
    header.nlmsg_type = RTM_NEWLINK;
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    header.nlmsg_seq = sequence;
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + "\x01\x02\x03\x04" +
           std::string(attributes);
}

}  // namespace

static_assert(std::endian::native == std::endian::little);

TEST_CASE("a netlink request has its length, flags and sequence number") {
    const NetlinkRequest request(RTM_NEWLINK, NLM_F_ACK, body);
    CHECK(request.bytes() == request_text(""));
    CHECK(request.bytes(7) == request_text("", 7));
}

TEST_CASE("attributes of a netlink request are padded and their lengths are not") {
    using namespace std::string_view_literals;
    NetlinkRequest request(RTM_NEWLINK, NLM_F_ACK, body);
    request.add(1, std::uint32_t{0x01020304});
    request.add(2, "veth");
    request.add(3, "abcdef", 6);
    CHECK(request.bytes() == request_text("\x08\0\x01\0\x04\x03\x02\x01"
                                          "\x09\0\x02\0veth\0\0\0\0"
                                          "\x0a\0\x03\0"
                                          "abcdef\0\0"sv));
}

TEST_CASE("a nested attribute of a netlink request spans what was added until it was closed") {
    using namespace std::string_view_literals;
    NetlinkRequest request(RTM_NEWLINK, NLM_F_ACK, body);
    const std::size_t outer = request.open(1);
    const std::size_t inner = request.open(2);
    request.append(body);
    request.add(3, std::uint32_t{5});
    request.close(inner);
    request.close(outer);
    request.add(4, std::uint32_t{6});
    CHECK(request.bytes() == request_text("\x14\0\x01\0\x10\0\x02\0\x01\x02\x03\x04\x08\0\x03\0\x05\0\0\0"
                                          "\x08\0\x04\0\x06\0\0\0"sv));
}

}  // namespace svc::lxc

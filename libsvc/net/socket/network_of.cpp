#include "libsvc/net/socket/network_of.h"

#include <arpa/inet.h>

#include <algorithm>
#include <iterator>

namespace svc {

namespace {

constexpr std::ptrdiff_t network_bytes = 8;  // of the sixteen of an IPv6 address
constexpr std::size_t mapped_bytes = 12;     // before the IPv4 address in a mapped one

}  // namespace

std::string network_of(std::string_view address) {
    in6_addr bytes{};
    const std::string bare(address.substr(0, address.find('%')));
    if (inet_pton(AF_INET6, bare.c_str(), &bytes) != 1) return std::string(address);
    char text[INET6_ADDRSTRLEN] = {};
    if (IN6_IS_ADDR_V4MAPPED(&bytes))
        return inet_ntop(AF_INET, bytes.s6_addr + mapped_bytes, text, sizeof(text));
    std::fill(std::begin(bytes.s6_addr) + network_bytes, std::end(bytes.s6_addr), std::uint8_t{0});
    inet_ntop(AF_INET6, &bytes, text, sizeof(text));
    return std::string(text) + "/64";
}

}  // namespace svc

#pragma once
// IPv4 arithmetic, the addresses of this machine, and the choice of the id range. Functions of texts are
// pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc::lxc {

struct Subnet {
    std::uint32_t address = 0;  // of the gateway, host byte order
    unsigned prefix = 24;

    std::uint32_t mask() const { return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix); }
    bool contains(std::uint32_t other) const { return (other & mask()) == (address & mask()); }
    bool overlaps(const Subnet& other) const;
    std::string network_text() const;  // "192.168.96.0/20"
    bool operator==(const Subnet&) const = default;
};

std::optional<std::uint32_t> parse_ipv4(std::string_view text);
std::string ipv4_text(std::uint32_t address);
Subnet parse_subnet(std::string_view text);  // "192.168.100.1/20"; throws invalid_argument

struct InterfaceAddress {
    std::string interface;
    Subnet subnet;
};
std::vector<InterfaceAddress> interface_addresses();

// The interface of the default route with the lowest metric, from the text of /proc/net/route; empty without
// one.
std::string default_interface(std::string_view route_table);

// The first range of `count` ids that both /etc/subuid and /etc/subgid give to root; when root has none, a
// range from 100000 on that they give to no user.
std::uint32_t choose_id_base(std::string_view subuid, std::string_view subgid, std::uint32_t count);

}  // namespace svc::lxc

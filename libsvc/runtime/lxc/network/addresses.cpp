#include "libsvc/runtime/lxc/network/addresses.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

struct SubIds {
    std::string owner;
    std::uint64_t first = 0, count = 0;
};

std::vector<SubIds> parse_ranges(std::string_view text) {
    std::vector<SubIds> ranges;
    for (const std::string& line : split(text, '\n')) {
        const std::vector<std::string> parts = split(trim(line), ':');
        if (parts.size() != 3) continue;
        const auto first = parse_number<std::uint64_t>(parts[1]);
        const auto count = parse_number<std::uint64_t>(parts[2]);
        if (first && count) ranges.push_back({parts[0], *first, *count});
    }
    return ranges;
}

bool is_root(const SubIds& range) {
    return range.owner == "root" || range.owner == "0";
}

bool gives_root(const std::vector<SubIds>& ranges, std::uint64_t first, std::uint64_t count) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const SubIds& range) {
        return is_root(range) && range.first <= first && first + count <= range.first + range.count;
    });
}

sockaddr_in as_ipv4(const sockaddr* address) {
    sockaddr_in result{};
    std::memcpy(&result, address, sizeof result);
    return result;
}

}  // namespace

bool Subnet::overlaps(const Subnet& other) const {
    const Subnet& wider = prefix < other.prefix ? *this : other;
    return wider.contains(prefix < other.prefix ? other.address : address);
}

std::string Subnet::network_text() const {
    return fmt::format("{}/{}", ipv4_text(address & mask()), prefix);
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
    in_addr address{};
    if (::inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return std::nullopt;
    return ntohl(address.s_addr);
}

std::string ipv4_text(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255U, (address >> 8) & 255U,
                       address & 255U);
}

Subnet parse_subnet(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = parse_ipv4(text.substr(0, slash));
    const auto prefix =
        slash == std::string_view::npos ? std::nullopt : parse_number<unsigned>(text.substr(slash + 1));
    if (!address || !prefix || *prefix < 8 || *prefix > 30)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("subnet {} is not an IPv4 address with a prefix of 8 to 30", quoted(text)));
    const Subnet subnet{*address, *prefix};
    if ((*address & ~subnet.mask()) == 0 || (*address | subnet.mask()) == ~std::uint32_t{0})
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("subnet {} must begin with the gateway's address", quoted(text)));
    return subnet;
}

std::vector<InterfaceAddress> interface_addresses() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) throw system_error("cannot list network addresses", errno);
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, ::freeifaddrs);
    std::vector<InterfaceAddress> addresses;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr || entry->ifa_netmask == nullptr ||
            entry->ifa_addr->sa_family != AF_INET)
            continue;
        const std::uint32_t mask = ntohl(as_ipv4(entry->ifa_netmask).sin_addr.s_addr);
        addresses.push_back({entry->ifa_name,
                             {ntohl(as_ipv4(entry->ifa_addr).sin_addr.s_addr),
                              static_cast<unsigned>(__builtin_popcount(mask))}});
    }
    return addresses;
}

std::string default_interface(std::string_view route_table) {
    std::string best;
    std::uint32_t best_metric = ~std::uint32_t{0};
    for (const std::string& line : split(route_table, '\n')) {
        const std::vector<std::string> fields =
            split(line, '\t');  // Iface Destination Gateway Flags RefCnt Use Metric Mask
        if (fields.size() < 8 || trim(fields[1]) != "00000000" || trim(fields[7]) != "00000000") continue;
        const auto metric = parse_number<std::uint32_t>(trim(fields[6])).value_or(0);
        if (!best.empty() && metric >= best_metric) continue;
        best = trim(fields[0]);
        best_metric = metric;
    }
    return best;
}

std::uint32_t choose_id_base(std::string_view subuid, std::string_view subgid, std::uint32_t count) {
    const std::vector<SubIds> users = parse_ranges(subuid);
    const std::vector<SubIds> groups = parse_ranges(subgid);
    std::uint64_t beyond = 100'000;
    for (const std::vector<SubIds>* ranges : {&users, &groups})
        for (const SubIds& range : *ranges) {
            if (is_root(range) && gives_root(users, range.first, count) &&
                gives_root(groups, range.first, count))
                return static_cast<std::uint32_t>(range.first);
            beyond = std::max(beyond, range.first + range.count);
        }
    return beyond + count < 0xffff0000U ? static_cast<std::uint32_t>(beyond) : 100'000;
}

}  // namespace svc::lxc

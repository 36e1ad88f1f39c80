#include "server/network_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/network/addresses.h"
#include "server/process/setting_values.h"

namespace svc::server {

namespace {

constexpr std::uint64_t least_bandwidth = 64'000;
constexpr std::uint64_t most_bandwidth = 400'000'000'000;
constexpr std::size_t most_name_servers = 4;

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc() || after != end || number > most) return std::nullopt;
    return number;
}

std::optional<GuestPorts> parse_ports(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string_view protocol = slash == std::string_view::npos ? "" : text.substr(slash + 1);
    const std::string_view range = text.substr(0, slash);
    const std::size_t dash = range.find('-');
    const auto first = whole_number(range.substr(0, dash), 65535);
    const auto last = dash == std::string_view::npos ? first : whole_number(range.substr(dash + 1), 65535);
    if ((protocol != "tcp" && protocol != "udp") || !first || !last || *first == 0 || *first > *last)
        return std::nullopt;
    return GuestPorts{protocol == "tcp", static_cast<std::uint16_t>(*first),
                      static_cast<std::uint16_t>(*last)};
}

}  // namespace

std::vector<GuestPorts> read_guest_ports(std::string_view key, const Json& value) {
    const JsonArray items = value.is_array() ? value.as_array() : JsonArray{value};
    std::vector<GuestPorts> all;
    for (const Json& item : items) {
        const std::string text = process::read_text(key, item);
        if (text == "none" && items.size() == 1) return {};
        const auto ports = parse_ports(text);
        if (!ports) throw_invalid(key, quoted(text) + " is not like 4000/tcp or 5000-5010/udp");
        all.push_back(*ports);
    }
    return all;
}

std::vector<std::string> read_name_servers(std::string_view key, const Json& value) {
    const JsonArray items = value.is_array() ? value.as_array() : JsonArray{value};
    std::vector<std::string> all;
    for (const Json& item : items) {
        const std::string text = process::read_text(key, item);
        if (text == "none" && items.size() == 1) return {};
        if (!lxc::parse_ipv4(text)) throw_invalid(key, quoted(text) + " is not an IPv4 address");
        all.push_back(text);
    }
    if (all.size() > most_name_servers)
        throw_invalid(key, "has more than " + std::to_string(most_name_servers) + " addresses");
    return all;
}

std::uint64_t read_bandwidth(std::string_view key, const Json& value) {
    struct Unit {
        std::string_view name;
        std::uint64_t bits;
    };
    constexpr std::array<Unit, 3> units = {{{"Kbit", 1'000}, {"Mbit", 1'000'000}, {"Gbit", 1'000'000'000}}};
    const std::string text = process::read_text(key, value);
    if (text == "none") return 0;
    for (const Unit& unit : units) {
        if (!text.ends_with(unit.name)) continue;
        const auto number = whole_number(std::string_view(text).substr(0, text.size() - unit.name.size()),
                                         most_bandwidth / unit.bits);
        if (number && *number * unit.bits >= least_bandwidth) return *number * unit.bits;
    }
    throw_invalid(key, quoted(text) + " is neither none nor a rate like 100Mbit, from 64Kbit to 400Gbit");
}

std::string read_network(std::string_view key, const Json& value) {
    std::string text = process::read_text(key, value);
    const std::size_t slash = text.find('/');
    const std::string_view bits = slash == std::string::npos ? "" : std::string_view(text).substr(slash + 1);
    const auto prefix = static_cast<unsigned>(whole_number(bits, 30).value_or(0));
    const std::uint32_t address = lxc::parse_ipv4(text.substr(0, slash)).value_or(~std::uint32_t{0});
    if (prefix < 8 || (address & ~lxc::Subnet{0, prefix}.mask()) != 0)
        throw_invalid(key, quoted(text) + " is not a network like 10.64.0.0/12");
    return text;
}

bool read_yes_no(std::string_view key, const Json& value) {
    if (value.is_bool()) return value.as_bool();
    return process::read_one_of(key, value, {"yes", "no"}) == "yes";
}

}  // namespace svc::server

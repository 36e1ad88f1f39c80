#include "server/process/setting_values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/size.h"

namespace svc::process {

namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc() || after != end) return std::nullopt;
    return number;
}

// Flags give numbers as text.
std::uint64_t read_number(std::string_view key, const Json& value) {
    if (value.is_integer() && value.as_double() >= 0) return static_cast<std::uint64_t>(value.as_int());
    const auto number = value.is_string() ? parse_number(value.as_string()) : std::nullopt;
    if (!number) throw_invalid(key, "must be a number from 0 on");
    return *number;
}

bool is_host_and_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto port = parse_number(text.substr(colon + 1));
    const std::string_view host = text.substr(0, colon);
    const bool bracketed = host.front() == '[' && host.back() == ']' && host.size() > 2;
    return port && *port <= 65535 && (bracketed || host.find(':') == std::string_view::npos);
}

bool is_private(std::uint32_t address) {
    return address >> 24U == 10 || address >> 20U == 0xAC1 || address >> 16U == 0xC0A8;
}

}  // namespace

std::string read_text(std::string_view key, const Json& value) {
    if (!value.is_string()) throw_invalid(key, "must be text");
    return value.as_string();
}

std::string read_path(std::string_view key, const Json& value) {
    std::string path = read_text(key, value);
    if (path.empty() || path.find('\0') != std::string::npos) throw_invalid(key, "must be a path");
    return path;
}

std::string read_one_of(std::string_view key, const Json& value, const std::vector<std::string>& allowed) {
    std::string text = read_text(key, value);
    if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
        throw_invalid(key, quoted(text) + " is none of " + join(allowed, ", "));
    return text;
}

std::uint64_t read_count(std::string_view key, const Json& value, std::uint64_t least, std::uint64_t most) {
    const std::uint64_t number = read_number(key, value);
    if (number < least || number > most)
        throw_invalid(key, "must be from " + std::to_string(least) + " to " + std::to_string(most));
    return number;
}

double read_rate(std::string_view key, const Json& value) {
    const double rate = value.is_number() ? value.as_double() : 0;
    if (rate <= 0 || rate > 100) throw_invalid(key, "must be a number above 0, at most 100");
    return rate;
}

double read_share(std::string_view key, const Json& value) {
    if (!value.is_number() || !(value.as_double() >= 0 && value.as_double() <= 1))
        throw_invalid(key, "must be a number from 0 to 1");
    return value.as_double();
}

std::uint64_t read_size(std::string_view key, const Json& value) {
    if (value.is_string()) return parse_size(key, value.as_string());
    return read_count(key, value, 0, std::numeric_limits<std::int64_t>::max());
}

Duration read_duration(std::string_view key, const Json& value) {
    if (!value.is_string()) return std::chrono::seconds(read_count(key, value, 0, 1'000'000'000));
    try {
        return parse_duration(value.as_string());
    } catch (const Error&) {
        throw_invalid(key, quoted(value.as_string()) + " is no duration like 90s, 5m or 1h30m");
    }
}

std::string read_address(std::string_view key, const Json& value) {
    std::string text = read_text(key, value);
    if (text == "none") return "";
    if (!is_host_and_port(text)) throw_invalid(key, quoted(text) + " is neither HOST:PORT nor none");
    return text;
}

std::vector<std::string> read_addresses(std::string_view key, const Json& value) {
    std::vector<std::string> addresses;
    const JsonArray items = value.is_array() ? value.as_array() : JsonArray{value};
    for (const Json& item : items)
        if (std::string address = read_address(key, item); !address.empty()) addresses.push_back(address);
    if (!addresses.empty() && addresses.size() != items.size())
        throw_invalid(key, "none does not go with an address");
    return addresses;
}

std::string read_subnet(std::string_view key, const Json& value) {
    std::string text = read_text(key, value);
    const std::size_t slash = text.find('/');
    const auto prefix =
        slash == std::string::npos ? std::nullopt : parse_number(std::string_view(text).substr(slash + 1));
    in_addr address{};
    if (!prefix || *prefix < 8 || *prefix > 30 ||
        inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1)
        throw_invalid(key, quoted(text) + " is no IPv4 address with a prefix of 8 to 30");
    if (!is_private(ntohl(address.s_addr))) throw_invalid(key, quoted(text) + " is no private network");
    return text;
}

std::string read_ip(std::string_view key, const Json& value) {
    std::string text = read_text(key, value);
    in_addr address{};
    if (!text.empty() && inet_pton(AF_INET, text.c_str(), &address) != 1)
        throw_invalid(key, quoted(text) + " is no IPv4 address");
    return text;
}

std::string read_bridge(std::string_view key, const Json& value) {
    std::string text = read_text(key, value);
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
    });
    if (text.empty() || text.size() > 15 || !plain || text == "." || text == "..")
        throw_invalid(key, "must be 1 to 15 letters, digits, '-', '_' or '.'");
    return text;
}

std::string read_node_name(std::string_view key, const Json& value) {
    std::string text = read_text(key, value);
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '-';
    });
    if (text.size() > 63 || !plain || text.starts_with('-') || text.ends_with('-'))
        throw_invalid(key, "must be up to 63 letters, digits and inner hyphens");
    return text;
}

std::string flag_name(std::string_view key) {
    std::string name = "--" + std::string(key);
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

void throw_at(const std::filesystem::path& file, std::size_t line, std::string_view message) {
    const std::string place = line ? file.string() + ":" + std::to_string(line) : file.string();
    throw Error(ErrorCode::invalid_argument, place + ": " + std::string(message));
}

}  // namespace svc::process

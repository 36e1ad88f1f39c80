#include "libsvc/runtime/lxc/usage/link_usage.h"

#include <array>
#include <charconv>

#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

// Columns: bytes packets errs drop fifo frame compressed multicast, then the same eight of what was sent.
constexpr std::size_t columns = 16;
constexpr std::size_t sent_from = 8;

bool parse_columns(std::string_view text, std::array<std::uint64_t, columns>& values) {
    for (std::uint64_t& value : values) {
        text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
        const auto [after, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem != std::errc()) return false;
        text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    }
    return true;
}

TrafficCount traffic(const std::array<std::uint64_t, columns>& values, std::size_t from) {
    return {values[from], values[from + 1], values[from + 2], values[from + 3]};
}

}  // namespace

std::map<std::string, NetworkUsage, std::less<>> parse_devices(std::string_view text) {
    std::map<std::string, NetworkUsage, std::less<>> devices;
    for (const std::string& line : split(text, '\n')) {
        const std::size_t colon = line.find(':');
        std::array<std::uint64_t, columns> values{};
        if (colon == std::string::npos || !parse_columns(std::string_view(line).substr(colon + 1), values))
            continue;
        devices.emplace(trim(std::string_view(line).substr(0, colon)),
                        NetworkUsage{"", traffic(values, 0), traffic(values, sent_from)});
    }
    return devices;
}

NetworkUsage other_end(const NetworkUsage& host, std::string device) {
    return {std::move(device), host.sent, host.received};
}

}  // namespace svc::lxc

#pragma once
// An input as packets: a byte with the length, a byte for the target, then the packet.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace svc::fuzz {

template <class Take>
void for_each_packet(const std::uint8_t* data, std::size_t size, Take&& take) {
    std::string_view input(reinterpret_cast<const char*>(data), size);
    while (input.size() >= 2) {
        const auto length = static_cast<std::uint8_t>(input[0]);
        const auto mark = static_cast<std::uint8_t>(input[1]);
        input.remove_prefix(2);
        const std::string packet(input.substr(0, length));
        input.remove_prefix(packet.size());
        take(mark, packet);
    }
}

}  // namespace svc::fuzz

#include "instance-agent/streamer/input/utf8.h"

namespace svc::streamer {

namespace {

struct Lead {
    std::size_t length;
    char32_t bits;
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {1, byte};
    if ((byte & 0xe0U) == 0xc0U) return {2, byte & 0x1fU};
    if ((byte & 0xf0U) == 0xe0U) return {3, byte & 0x0fU};
    if ((byte & 0xf8U) == 0xf0U) return {4, byte & 0x07U};
    return {0, 0};
}

}  // namespace

std::u32string characters_of(std::string_view utf8) {
    std::u32string characters;
    while (!utf8.empty()) {
        auto [length, character] = lead_of(static_cast<unsigned char>(utf8.front()));
        bool good = length != 0 && length <= utf8.size();
        for (std::size_t i = 1; good && i < length; ++i) {
            const auto byte = static_cast<unsigned char>(utf8[i]);
            good = (byte & 0xc0U) == 0x80U;
            character = character << 6U | (byte & 0x3fU);
        }
        if (good) characters += character;
        utf8.remove_prefix(good ? length : 1);
    }
    return characters;
}

}  // namespace svc::streamer

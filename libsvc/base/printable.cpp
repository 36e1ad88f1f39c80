#include "libsvc/base/printable.h"

#include <algorithm>
#include <cstdint>

namespace svc {

namespace {

std::uint32_t code_point_of(std::string_view character) {
    const auto byte = [character](std::size_t at) { return static_cast<unsigned char>(character[at]); };
    std::uint32_t code = byte(0) & (0x7FU >> character.size());
    for (std::size_t at = 1; at < character.size(); ++at) code = code << 6U | (byte(at) & 0x3FU);
    return code;
}

// Terminals take some of the second row of control characters for the beginning of a command; line and
// paragraph separators and changes of direction show a text as another one.
bool misleads(std::uint32_t code) {
    return (code >= 0x80 && code <= 0x9F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::size_t printable_length(std::string_view text) {
    const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t at = 1; at < length; ++at)
        if ((byte(at) & 0xC0U) != 0x80U) return 0;
    const bool longer_than_needed = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool beyond = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
    if (longer_than_needed || beyond) return 0;
    return misleads(code_point_of(text.substr(0, length))) ? 0 : length;
}

std::string plain_text(std::string_view text, std::size_t limit) {
    std::string result;
    while (!text.empty()) {
        const std::size_t length = printable_length(text);
        const std::string_view next = length > 0 ? text.substr(0, length) : "?";
        if (result.size() + next.size() > limit) break;
        result += next;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

}  // namespace svc

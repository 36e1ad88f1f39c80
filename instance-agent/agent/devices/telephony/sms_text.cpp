#include "instance-agent/agent/devices/telephony/sms_text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace svc::agent {
namespace {

// GSM 03.38's alphabet, and what an escape before the character adds to it.
constexpr std::u32string_view plain_letters =
    U"@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
    U"abcdefghijklmnopqrstuvwxyzäöñüà";
constexpr std::u32string_view escaped_letters = U"\f^{}\\[~]|€";

// The units of a message: characters of the alphabet, or of UTF-16.
struct Capacity {
    std::size_t alone, in_part;
};
constexpr Capacity alphabet{160, 153};
constexpr Capacity utf16{70, 67};
// No text of that many parts is longer: a unit has three bytes at most.
constexpr std::size_t most_bytes = most_sms_parts * alphabet.in_part * 3;

std::u32string letters_of(std::string_view text) {
    std::u32string letters;
    for (const char one : text) {
        const auto byte = static_cast<unsigned char>(one);
        if ((byte & 0xC0U) == 0x80U && !letters.empty())
            letters.back() = (letters.back() << 6U) | (byte & 0x3FU);
        else
            letters.push_back(byte < 0x80   ? byte
                              : byte < 0xE0 ? byte & 0x1FU
                                            : byte & (byte < 0xF0 ? 0xFU : 7U));
    }
    return letters;
}

bool is_of_alphabet(char32_t letter) {
    return plain_letters.find(letter) != std::u32string_view::npos ||
           escaped_letters.find(letter) != std::u32string_view::npos;
}

std::size_t units_of(char32_t letter, bool in_alphabet) {
    if (in_alphabet) return plain_letters.find(letter) != std::u32string_view::npos ? 1 : 2;
    return letter > 0xFFFF ? 2 : 1;
}

// A character of two units is not torn apart.
int split_into_parts(const std::vector<std::size_t>& units, const Capacity& capacity) {
    std::size_t all = 0, in_last = 0;
    int parts = 1;
    for (const std::size_t size : units) {
        all += size;
        in_last += size;
        if (in_last <= capacity.in_part) continue;
        ++parts;
        in_last = size;
    }
    return all <= capacity.alone ? 1 : parts;
}

}  // namespace

std::optional<int> count_sms_parts(std::string_view text) {
    if (text.size() > most_bytes) return std::nullopt;
    const std::u32string letters = letters_of(text);
    const bool in_alphabet = std::all_of(letters.begin(), letters.end(), is_of_alphabet);
    std::vector<std::size_t> units;
    for (const char32_t letter : letters) units.push_back(units_of(letter, in_alphabet));
    const int parts = split_into_parts(units, in_alphabet ? alphabet : utf16);
    return parts <= most_sms_parts ? std::optional(parts) : std::nullopt;
}

}  // namespace svc::agent

#include "libsvc/base/strings.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    const char l = lower(c);
    return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

bool is_unreserved(char c) noexcept {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    if (text.empty()) return parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += separator;
        text += parts[i];
    }
    return text;
}

std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view space = " \t\r\n\v\f";
    const std::size_t begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

bool iequals(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

std::string percent_decode(std::string_view text, bool plus_is_space) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            result += ' ';
        } else if (text[i] != '%') {
            result += text[i];
        } else {
            const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                throw Error(ErrorCode::invalid_argument,
                            "percent encoding in " + quoted(text) + " is malformed");
            result += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return result;
}

std::string percent_encode(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (char c : text) {
        if (is_unreserved(c)) {
            result += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            result += '%';
            result += hex_digits[byte >> 4U];
            result += hex_digits[byte & 15U];
        }
    }
    return result;
}

std::string Quoted::operator()(std::string_view text) const {
    constexpr std::size_t longest = 128;
    std::string result = "'";
    // A cut may fall within a UTF-8 sequence: step back to its first byte.
    std::size_t end = std::min(text.size(), longest);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    for (char c : text.substr(0, end)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F) {
            result += c;
        } else {
            result += "\\x";
            result += hex_digits[byte >> 4U];
            result += hex_digits[byte & 15U];
        }
    }
    return result + (end < text.size() ? "...'" : "'");
}

}  // namespace svc

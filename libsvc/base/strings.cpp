#include "libsvc/base/strings.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/printable.h"

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
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = printable_length(text.substr(at));
        if (at + std::max<std::size_t>(length, 1) > longest) break;
        if (length > 0) {
            result += text.substr(at, length);
        } else {
            result += "\\x";
            result += hex_digits[static_cast<unsigned char>(text[at]) >> 4U];
            result += hex_digits[static_cast<unsigned char>(text[at]) & 15U];
        }
        at += std::max<std::size_t>(length, 1);
    }
    return result + (at < text.size() ? "...'" : "'");
}

}  // namespace svc

#include "cli/output/terminal_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

namespace svc::cli {
namespace {

constexpr utf8proc_int32_t invalid = -1;
constexpr int widest_cluster = 2;  // columns of an emoji, from however many code points

// The first code point of `rest`, which loses its bytes; `invalid` for one byte that is not UTF-8.
utf8proc_int32_t take_code_point(std::string_view& rest) {
    utf8proc_int32_t code_point = invalid;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(rest.data());
    const auto used = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(rest.size()), &code_point);
    rest.remove_prefix(used > 0 ? static_cast<std::size_t>(used) : 1);
    return used > 0 ? code_point : invalid;
}

int columns_of(utf8proc_int32_t code_point) {
    return code_point == invalid ? 1 : utf8proc_charwidth(code_point);
}

bool changes_direction(utf8proc_int32_t code_point) {
    return (code_point >= 0x202A && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
}

bool is_harmful(utf8proc_int32_t code_point) {
    if (code_point == '\n') return false;
    return code_point == invalid || utf8proc_category(code_point) == UTF8PROC_CATEGORY_CC ||
           changes_direction(code_point);
}

}  // namespace

std::size_t display_width(std::string_view text) {
    int width = 0, cluster = 0;  // a cluster: code points that are drawn as one character
    utf8proc_int32_t before = invalid, state = 0;
    while (!text.empty()) {
        const utf8proc_int32_t code_point = take_code_point(text);
        const bool joins = before != invalid && code_point != invalid &&
                           !utf8proc_grapheme_break_stateful(before, code_point, &state);
        if (!joins) width += std::exchange(cluster, 0);
        if (before == invalid || code_point == invalid) state = 0;
        cluster = joins ? std::min(cluster + columns_of(code_point), widest_cluster) : columns_of(code_point);
        before = code_point;
    }
    return static_cast<std::size_t>(width + cluster);
}

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::string_view whole = text;
        const utf8proc_int32_t code_point = take_code_point(text);
        result += is_harmful(code_point) ? "?" : whole.substr(0, whole.size() - text.size());
    }
    return result;
}

}  // namespace svc::cli

#include "libsvc/model/values/size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
namespace svc {

namespace {

struct Unit {
    std::string_view suffix;
    unsigned shift;
};
constexpr std::array<Unit, 8> units{
    {{"", 0}, {"B", 0}, {"kB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}, {"PB", 50}, {"EB", 60}}};

constexpr std::uint64_t max_size = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view rule =
    "must be a whole number of bytes, or text like 512MB or 3GB (units B, kB, MB, GB, TB, PB, EB)";

}  // namespace

std::uint64_t parse_size(std::string_view field, std::string_view text) {
    if (text.empty()) return 0;
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure == std::errc::result_out_of_range) throw_invalid(field, "size is too large");
    if (failure != std::errc()) throw_invalid(field, rule);
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const Unit& unit : units) {
        if (unit.suffix != suffix) continue;
        if (number > max_size >> unit.shift) throw_invalid(field, "size is too large");
        return number << unit.shift;
    }
    throw_invalid(field, rule);
}

std::optional<std::uint64_t> size_in(const JsonFields& fields, std::string_view key) {
    const Json* const value = fields.raw(key);
    if (value == nullptr) return std::nullopt;
    const std::string path = fields.path_of(key);
    if (value->is_string()) return parse_size(path, value->as_string());
    if (!value->is_number()) throw_invalid(path, rule);
    const std::int64_t bytes = *fields.integer(key);
    if (bytes < 0) throw_invalid(path, rule);
    return static_cast<std::uint64_t>(bytes);
}

std::optional<std::uint64_t> amount_in(const JsonFields& fields, std::string_view key) {
    const auto bytes = size_in(fields, key);
    if (bytes == 0U) throw_invalid(fields.path_of(key), "must be above 0");
    return bytes;
}

std::string format_size(std::uint64_t bytes) {
    if (bytes < 1024) return std::to_string(bytes) + "B";
    for (const Unit& unit : units) {
        if (unit.shift == 0) continue;
        // Rounded to the nearest, so that a machine of 7.8GB does not show as one of 7GB.
        const std::uint64_t rest = bytes & ((std::uint64_t{1} << unit.shift) - 1);
        const bool up = rest >= std::uint64_t{1} << (unit.shift - 1);
        const std::uint64_t value = (bytes >> unit.shift) + (up ? 1 : 0);
        if (value < 1024) return std::to_string(value).append(unit.suffix);
    }
    return std::to_string(bytes >> 60).append("EB");
}

std::string exact_size(std::uint64_t bytes) {
    const auto divides = [bytes](const Unit& unit) { return bytes % (std::uint64_t{1} << unit.shift) == 0; };
    const auto unit = std::find_if(units.rbegin(), units.rend(), divides);
    return std::to_string(bytes >> unit->shift).append(bytes == 0 ? "B" : unit->suffix);
}

}  // namespace svc

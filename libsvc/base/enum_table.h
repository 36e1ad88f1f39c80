#pragma once
// Enum <-> text as one table per enum; completeness is tested beside each table.
#include <optional>
#include <span>
#include <string_view>

namespace svc {

template <class E>
struct EnumName {
    E value;
    std::string_view text;
};

template <class E>
constexpr std::string_view enum_text(std::span<const EnumName<E>> table, E value) {
    for (const auto& entry : table)
        if (entry.value == value) return entry.text;
    return "unknown";
}

template <class E>
constexpr std::optional<E> enum_value(std::span<const EnumName<E>> table, std::string_view text) {
    for (const auto& entry : table)
        if (entry.text == text) return entry.value;
    return std::nullopt;
}

}  // namespace svc

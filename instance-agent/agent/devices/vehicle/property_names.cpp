#include "instance-agent/agent/devices/vehicle/property_names.h"

#include <charconv>
#include <unordered_map>

#include "instance-agent/agent/devices/vehicle/property_tables.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

namespace {

std::int32_t number_of(std::string_view text) {
    std::int32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

PropertyAccess access_of(std::string_view text) {
    if (text == "r") return PropertyAccess::read;
    return text == "w" ? PropertyAccess::write : PropertyAccess::read_write;
}

ChangeMode mode_of(std::string_view text) {
    if (text == "s") return ChangeMode::fixed;
    return text == "c" ? ChangeMode::continuous : ChangeMode::on_change;
}

// Views into the table's own text, which may be kept.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const auto end = std::min(line.find(' '), line.size());
        if (end > 0) words.push_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

template <class Row>
void for_each_row(std::string_view table, Row row) {
    while (!table.empty()) {
        const auto end = std::min(table.find('\n'), table.size());
        if (const auto words = words_of(table.substr(0, end)); !words.empty()) row(words);
        table.remove_prefix(std::min(end + 1, table.size()));
    }
}

struct Properties {
    std::unordered_map<std::string_view, KnownProperty> by_name;
    std::unordered_map<PropertyId, const KnownProperty*> by_id;

    Properties() {
        for_each_row(property_table, [this](const auto& words) {
            by_name[words[0]] = {words[0], number_of(words[1]), access_of(words[2]), mode_of(words[3])};
        });
        for (const auto& [name, property] : by_name) by_id[property.id] = &property;
    }
};

const Properties& properties() {
    static const Properties all;
    return all;
}

using Constants = std::unordered_map<std::string, std::int32_t>;

const Constants& constants() {
    static const Constants all = [] {
        Constants read;
        for_each_row(constant_table, [&read](const auto& words) {
            for (std::size_t i = 1; i < words.size(); ++i) {
                const auto equals = words[i].find('=');
                const std::string name =
                    std::string(words[0]) + "::" + std::string(words[i].substr(0, equals));
                read[name] = number_of(words[i].substr(equals + 1));
            }
        });
        return read;
    }();
    return all;
}

}  // namespace

const KnownProperty* find_property(std::string_view name) {
    const auto found = properties().by_name.find(name);
    return found != properties().by_name.end() ? &found->second : nullptr;
}

const KnownProperty* find_property(PropertyId id) {
    const auto found = properties().by_id.find(id);
    return found != properties().by_id.end() ? found->second : nullptr;
}

std::optional<std::int32_t> find_constant(std::string_view text) {
    constexpr std::string_view prefix = "VehicleProperty::";
    if (text.starts_with(prefix)) {
        const KnownProperty* property = find_property(text.substr(prefix.size()));
        return property != nullptr ? std::optional(property->id) : std::nullopt;
    }
    const auto found = constants().find(std::string(text));
    return found != constants().end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace svc::agent

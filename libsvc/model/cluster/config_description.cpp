#include "libsvc/model/cluster/config_description.h"

#include <charconv>
#include <optional>

namespace svc {

namespace {

constexpr std::string_view choice_rule = "one of ";
constexpr std::string_view range_rule = "a number from ";
constexpr std::string_view range_middle = " to ";

std::string_view type_word(ConfigType type) {
    switch (type) {
        case ConfigType::boolean:
            return "boolean";
        case ConfigType::number:
            return "number";
        case ConfigType::duration:
            return "duration";
        case ConfigType::text:
        case ConfigType::secret:
            break;
    }
    return "text";
}

std::optional<std::int64_t> bound_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

void add_choices(std::string_view rule, Json& description) {
    if (!rule.starts_with(choice_rule)) return;
    Json choices = Json::array();
    for (std::string& choice : split_config_list(rule.substr(choice_rule.size())))
        choices.push_back(std::move(choice));
    description.set("choices", std::move(choices));
}

void add_range(std::string_view rule, Json& description) {
    const std::size_t middle = rule.find(range_middle);
    if (!rule.starts_with(range_rule) || middle == std::string_view::npos) return;
    const auto lowest = bound_of(rule.substr(range_rule.size(), middle - range_rule.size()));
    const auto highest = bound_of(rule.substr(middle + range_middle.size()));
    if (lowest) description.set("minimum", *lowest);
    if (highest) description.set("maximum", *highest);
}

}  // namespace

Json describe(const ConfigKey& key) {
    Json description = Json::object({{"name", std::string(key.name)},
                                     {"type", std::string(type_word(key.type))},
                                     {"default", std::string(key.default_value)},
                                     {"rule", std::string(key.rule)},
                                     {"meaning", std::string(key.meaning)},
                                     {"secret", key.type == ConfigType::secret}});
    add_choices(key.rule, description);
    add_range(key.rule, description);
    return description;
}

}  // namespace svc

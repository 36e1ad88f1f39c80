#pragma once
// Cluster configuration: the table of its keys, and the values as a typed object (specification: Cluster
// configuration items; docs/management.md, "Configuration").
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc {

enum class ConfigType { text, boolean, number, duration, secret };

struct ConfigKey {
    std::string_view name;
    ConfigType type = ConfigType::text;
    std::string_view default_value;
    std::string_view rule;  // for messages and documents: "one of spread, binpack"
    bool (*accepts)(std::string_view value) = nullptr;  // checked after the type; null: every value
    bool shown_as_text = false;  // a boolean that the API shows as text: images.version_lockstep
    std::string_view meaning;
};

std::span<const ConfigKey> config_schema();          // ordered by name
const ConfigKey& config_key(std::string_view name);  // throws not_found "configuration item not found"
// Throws invalid_argument naming key, value and rule. Accepts "" for every key: the default.
void check_config_value(const ConfigKey& key, std::string_view value);

std::vector<std::string> split_config_list(
    std::string_view value);  // at commas, trimmed, without empty items

// The configuration at one moment: values that were set, defaults for all other keys. A getter throws
// internal for an unknown key or another type than the key's: that is a fault of the caller. Not thread-safe;
// copy it.
class ConfigValues {
  public:
    ConfigValues() = default;
    explicit ConfigValues(std::map<std::string, std::string, std::less<>> set) : set_(std::move(set)) {}
    std::string text(std::string_view key) const;
    bool boolean(std::string_view key) const;
    std::int64_t number(std::string_view key) const;
    Duration duration(std::string_view key) const;
    std::vector<std::string> list(std::string_view key) const;  // see split_config_list()
    bool is_set(std::string_view key) const;
    Json to_json() const;  // the map of GET /1.0/config: every key, secrets as booleans
    const std::map<std::string, std::string, std::less<>>& set() const { return set_; }

  private:
    std::string value_of(const ConfigKey& key) const;
    Json shown(const ConfigKey& key) const;

    std::map<std::string, std::string, std::less<>> set_;
};

// Body of PATCH /1.0/config. `value` must be a string (a boolean or number is taken as its text).
struct ConfigPatch {
    std::string name;
    std::string value;
    static ConfigPatch from_json(const Json& body);
};

}  // namespace svc

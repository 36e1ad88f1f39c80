#pragma once
// JSON values, and typed readers for the members of an object, which every codec uses. RapidJSON parses and
// writes: iteratively, so that a megabyte of '[' cannot overflow the stack, and with a check of UTF-8. Only
// json.cpp includes its headers. Values are not thread-safe.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "libsvc/base/clock.h"

namespace svc {

class Json;
using JsonArray = std::vector<Json>;
using JsonMembers = std::vector<std::pair<std::string, Json>>;  // in the order of the text

// JSON text that is written out as it is. The parser never makes one.
struct RawJson {
    std::string text;
    bool operator==(const RawJson&) const = default;
};

// One JSON value. Copying is deep.
class Json {
  public:
    Json() = default;  // null
    Json(std::nullptr_t) {}
    Json(bool value) : value_(value) {}
    Json(int value) : value_(std::int64_t{value}) {}
    Json(unsigned value) : value_(std::int64_t{value}) {}
    Json(long value) : value_(std::int64_t{value}) {}
    Json(long long value) : value_(std::int64_t{value}) {}
    Json(unsigned long value) : value_(std::uint64_t{value}) {}
    Json(unsigned long long value) : value_(std::uint64_t{value}) {}
    Json(double value) : value_(value) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(std::string_view value) : value_(std::string(value)) {}
    Json(std::string value) : value_(std::move(value)) {}
    Json(JsonArray value) : value_(std::move(value)) {}
    Json(RawJson value) : value_(std::move(value)) {}
    // Json::object({{"name", "x"}, {"size", 3}})
    static Json object(JsonMembers members = {});
    static Json array(JsonArray items = {}) { return Json(std::move(items)); }

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_bool() const { return std::holds_alternative<bool>(value_); }
    bool is_string() const { return std::holds_alternative<std::string>(value_); }
    bool is_array() const { return std::holds_alternative<JsonArray>(value_); }
    bool is_object() const { return std::holds_alternative<JsonMembers>(value_); }
    bool is_integer() const;  // fits an int64 or a uint64, no fraction written
    bool is_number() const;

    // Each throws invalid_argument when the value has another type.
    bool as_bool() const;
    std::int64_t as_int() const;  // also from an integral double; refuses what does not fit
    double as_double() const;
    const std::string& as_string() const;
    const JsonArray& as_array() const;
    const JsonMembers& as_object() const;
    JsonArray& as_array();

    const Json* find(std::string_view key) const;  // null pointer: no such member, or not an object
    const Json& at(std::string_view key) const;    // throws not_found
    void set(std::string key, Json value);         // replaces or appends; null becomes an object
    void erase(std::string_view key);
    void push_back(Json value);  // null becomes an array

    // Deep equality; members are compared without regard to order, 1 and 1.0 are the same number.
    bool operator==(const Json& other) const;

    std::string dump() const;         // compact
    std::string dump_pretty() const;  // four spaces

    // Throws invalid_argument "malformed JSON at byte N: ..." for anything but one whole value, for depth
    // over 64 and for duplicate keys within one object.
    static Json parse(std::string_view text);

  private:
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, JsonArray,
                 JsonMembers, RawJson>
        value_;
    friend struct JsonAccess;
};

// Reads the members of one object; errors name the whole path ("argument services[0].port is invalid: ...").
// A null member counts as absent. Unknown members are ignored. Keeps a reference to `object`: do not outlive
// it.
class JsonFields {
  public:
    explicit JsonFields(const Json& object,
                        std::string path = "");  // throws invalid_argument if not an object

    // `require_*` throw invalid_argument "<path> is required"; all throw "argument <path> is invalid: ..." on
    // a wrong type. `allow` another spelling of the key with '|' between: "cpu|cpus" (the first one given
    // wins).
    std::string require_string(std::string_view key) const;
    std::int64_t require_int(std::string_view key) const;
    std::optional<std::string> string(std::string_view key) const;
    std::optional<std::int64_t> integer(std::string_view key) const;
    std::optional<double> number(std::string_view key) const;
    std::optional<bool> boolean(std::string_view key) const;
    std::optional<std::vector<std::string>> strings(std::string_view key) const;
    std::optional<std::map<std::string, std::string>> string_map(std::string_view key) const;
    std::optional<JsonFields> object(std::string_view key) const;
    std::optional<std::vector<JsonFields>> objects(std::string_view key) const;  // an array of objects
    const Json* raw(std::string_view key) const;  // null pointer: absent or null
    std::string path_of(std::string_view key) const;
    const Json& value() const { return *object_; }

  private:
    const Json* object_;
    std::string path_;
};

// The error every check of a field throws: invalid_argument, "argument <path> is invalid: <rule>".
[[noreturn]] void throw_invalid(std::string_view path, std::string_view rule);

}  // namespace svc

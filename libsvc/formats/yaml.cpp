#include "libsvc/formats/yaml.h"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t yaml_max_depth = 64;

[[noreturn]] void throw_malformed(const YAML::Mark& mark, std::string_view reason) {
    const int line = mark.is_null() ? 1 : mark.line + 1;
    throw Error(ErrorCode::invalid_argument,
                "malformed YAML at line " + std::to_string(line) + ": " + std::string(reason));
}

template <class Number>
std::optional<Number> to_number(std::string_view text, int base) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc() || after != end) return std::nullopt;
    return value;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<Json> integer_scalar(std::string_view text) {
    const bool signed_text = text.starts_with('-') || text.starts_with('+');
    std::string_view digits = signed_text ? text.substr(1) : text;
    int base = 10;
    if (!signed_text && (digits.starts_with("0x") || digits.starts_with("0o"))) {
        base = digits[1] == 'x' ? 16 : 8;
        digits.remove_prefix(2);
    }
    if (digits.empty() || !std::isalnum(static_cast<unsigned char>(digits[0]))) return std::nullopt;
    if (text.starts_with('-')) {
        if (const auto value = to_number<std::int64_t>(text, 10)) return Json(*value);
        return std::nullopt;
    }
    const auto value = to_number<std::uint64_t>(digits, base);
    if (!value) return std::nullopt;
    if (std::in_range<std::int64_t>(*value)) return Json(static_cast<std::int64_t>(*value));
    return Json(*value);
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
std::optional<Json> float_scalar(std::string_view text) {
    if (is_one_of(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"}))
        return Json(std::numeric_limits<double>::infinity());
    if (is_one_of(text, {"-.inf", "-.Inf", "-.INF"})) return Json(-std::numeric_limits<double>::infinity());
    if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return Json(std::numeric_limits<double>::quiet_NaN());
    std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    const std::string_view unsigned_digits = digits.starts_with('-') ? digits.substr(1) : digits;
    if (text.starts_with("+-") ||
        unsigned_digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
        return std::nullopt;
    const bool has_digit =
        !unsigned_digits.empty() && (std::isdigit(static_cast<unsigned char>(unsigned_digits[0])) ||
                                     (unsigned_digits[0] == '.' && unsigned_digits.size() > 1 &&
                                      std::isdigit(static_cast<unsigned char>(unsigned_digits[1]))));
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [after, error] = std::from_chars(digits.data(), end, value);
    if (!has_digit || error != std::errc() || after != end) return std::nullopt;
    return Json(value);
}

// The core schema of YAML 1.2, where "yes" and "on" are no booleans and "012" is no octal number.
Json plain_scalar(std::string_view text) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return {};
    if (is_one_of(text, {"true", "True", "TRUE"})) return true;
    if (is_one_of(text, {"false", "False", "FALSE"})) return false;
    if (auto value = integer_scalar(text)) return *std::move(value);
    if (auto value = float_scalar(text)) return *std::move(value);
    return text;
}

// Receives yaml-cpp's events. With events instead of a node tree, this class can limit aliases and depth.
class Builder final : public YAML::EventHandler {
  public:
    Json root;

    explicit Builder(std::span<const std::string_view> text_keys) : text_keys_(text_keys) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        if (at_key()) throw_malformed(mark, "a key must be a string");
        add(Json());
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw_malformed(mark, "aliases are not allowed");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  const std::string& text) override {
        if (at_key()) return add_key(mark, text);
        const bool core_type = tag.starts_with(core_tags) && tag != std::string(core_tags) + "str";
        if (tag == "?" && keeps_text() && !plain_scalar(text).is_null()) return add(Json(text));
        add(tag == "?" || core_type ? plain_scalar(text) : Json(text));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        open(mark, false);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        open(mark, true);
    }
    void OnMapEnd() override { close(); }

  private:
    static constexpr std::string_view core_tags = "tag:yaml.org,2002:";

    struct Level {
        bool is_map;
        JsonArray items;
        JsonMembers members;
        std::optional<std::string> key;  // key of the member whose value comes next
        std::set<std::string> keys;
    };

    bool keeps_text() const {
        return !open_.empty() && open_[0].key &&
               std::find(text_keys_.begin(), text_keys_.end(), *open_[0].key) != text_keys_.end();
    }
    bool at_key() const { return !open_.empty() && open_.back().is_map && !open_.back().key; }
    void open(const YAML::Mark& mark, bool is_map) {
        if (open_.size() == yaml_max_depth) throw_malformed(mark, "values are nested too deeply");
        if (at_key()) throw_malformed(mark, "a key must be a string");
        open_.push_back({is_map, {}, {}, std::nullopt, {}});
    }
    void close() {
        Level done = std::move(open_.back());
        open_.pop_back();
        add(done.is_map ? Json::object(std::move(done.members)) : Json(std::move(done.items)));
    }
    void add_key(const YAML::Mark& mark, const std::string& key) {
        Level& level = open_.back();
        if (!level.keys.insert(key).second) throw_malformed(mark, "key " + quoted(key) + " appears twice");
        level.key = key;
    }
    void add(Json value) {
        if (open_.empty()) {
            root = std::move(value);
            return;
        }
        Level& level = open_.back();
        if (!level.is_map) return level.items.push_back(std::move(value));
        level.members.emplace_back(*std::move(level.key), std::move(value));
        level.key.reset();
    }

    std::span<const std::string_view> text_keys_;
    std::vector<Level> open_;
};

// Whether a reader of YAML 1.1 or 1.2 would read the plain text as another type than text.
bool needs_quotes(const std::string& text) {
    return !plain_scalar(text).is_string() ||
           is_one_of(to_lower(text), {"y", "n", "yes", "no", "on", "off"}) ||
           text.find_first_not_of("0123456789_.:-+") == std::string::npos;
}

void emit(YAML::Emitter& out, const Json& value) {
    if (value.is_object()) {
        if (value.as_object().empty()) out << YAML::Flow;  // "{}" on the line of the key
        out << YAML::BeginMap;
        for (const auto& [key, member] : value.as_object()) {
            out << YAML::Key;
            emit(out, Json(key));
            out << YAML::Value;
            emit(out, member);
        }
        out << YAML::EndMap;
    } else if (value.is_array()) {
        if (value.as_array().empty()) out << YAML::Flow;
        out << YAML::BeginSeq;
        for (const Json& item : value.as_array()) emit(out, item);
        out << YAML::EndSeq;
    } else if (value.is_string()) {
        if (needs_quotes(value.as_string())) out << YAML::DoubleQuoted;
        out << value.as_string();
    } else if (value.is_number() && !value.is_integer() && !std::isfinite(value.as_double())) {
        out << (std::isnan(value.as_double()) ? ".nan" : value.as_double() > 0 ? ".inf" : "-.inf");
    } else if (value.is_null()) {
        out << YAML::Null;
    } else if (value.is_number() || value.is_bool()) {
        out << value.dump();
    } else {
        emit(out, Json::parse(value.dump()));  // RawJson
    }
}

}  // namespace

Json parse_yaml(std::string_view text, std::span<const std::string_view> text_keys) {
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        Builder first(text_keys);
        if (!parser.HandleNextDocument(first)) return {};
        Builder second(text_keys);
        if (parser.HandleNextDocument(second))
            throw Error(ErrorCode::invalid_argument, "malformed YAML: more than one document");
        return std::move(first.root);
    } catch (const YAML::Exception& e) {
        throw_malformed(e.mark, e.msg);
    }
}

std::string to_yaml(const Json& value) {
    YAML::Emitter out;
    out.SetNullFormat(YAML::LowerNull);
    emit(out, value);
    return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace svc

#include "libsvc/base/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

// Gives the reader and the writers of this file access to the variant.
struct JsonAccess {
    static auto& value(Json& json) { return json.value_; }
    static const auto& value(const Json& json) { return json.value_; }
};

namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t character_size = 4;  // bytes of UTF-8 at most
constexpr std::size_t few_members = 32;    // most records have no more

[[noreturn]] void throw_wrong_type(std::string_view expected) {
    throw Error(ErrorCode::invalid_argument, "JSON value is not " + std::string(expected));
}

// Most names differ in their length, their first or their last character.
bool same_name(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    return a.empty() || (a.front() == b.front() && a.back() == b.back() && a == b);
}

bool has_duplicates(const JsonMembers& members) {
    if (members.size() <= few_members) {
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (same_name(members[i].first, members[j].first)) return true;
        return false;
    }
    std::vector<std::string_view> keys;  // a hostile object of 100,000 keys must not cost their square
    keys.reserve(members.size());
    for (const auto& member : members) keys.emplace_back(member.first);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

// Nothing but ASCII, written as such: there is no encoding to check.
bool is_plain(std::string_view text) {
    if (text.find("\\u") != std::string_view::npos) return false;
    std::uint64_t bits = 0;
    for (; text.size() >= sizeof(bits); text.remove_prefix(sizeof(bits))) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, text.data(), sizeof(eight));
        bits |= eight;
    }
    for (const char c : text) bits |= static_cast<unsigned char>(c);
    return (bits & 0x8080808080808080U) == 0;
}

// Converts the text of a number that RapidJSON has accepted. Nothing: it is too large for a double.
// RapidJSON's own exact conversion is not used: it reads beyond its tables for long numbers with an exponent.
std::optional<Json> number_of(std::string_view text) {
    const char* const end = text.data() + text.size();
    const auto is_whole = [end](std::from_chars_result read) {
        return read.ptr == end && read.ec == std::errc();
    };
    std::int64_t integer = 0;
    if (is_whole(std::from_chars(text.data(), end, integer))) return Json(integer);
    std::uint64_t natural = 0;
    if (is_whole(std::from_chars(text.data(), end, natural))) return Json(natural);
    double value = 0;
    if (std::from_chars(text.data(), end, value).ec == std::errc()) return Json(value);
    const auto exponent = text.find_first_of("eE");
    const bool is_tiny = exponent != std::string_view::npos
                             ? text[exponent + 1] == '-'
                             : text.starts_with("0.") || text.starts_with("-0.");
    return is_tiny ? std::optional(Json(text.front() == '-' ? -0.0 : 0.0)) : std::nullopt;
}

// Receives RapidJSON's events. What open containers hold so far is in `pending_`: a container is made when it
// ends, of the size that it has.
class Builder {
  public:
    explicit Builder(bool plain) : plain_(plain) { pending_.reserve(few_members); }

    Json root;
    const char* refusal = nullptr;  // why one of the functions below returned false

    // NOLINTBEGIN(readability-identifier-naming): RapidJSON calls them by these names
    bool Null() { return add(Json()); }
    bool Bool(bool value) { return add(Json(value)); }
    bool Int(int value) { return add(Json(value)); }
    bool Uint(unsigned value) { return add(Json(value)); }
    bool Int64(std::int64_t value) { return add(Json(value)); }
    bool Uint64(std::uint64_t value) { return add(Json(value)); }
    bool Double(double value) { return add(Json(value)); }
    bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
        std::optional<Json> number = number_of({text, size});
        return number ? add(std::move(*number)) : refuse("number too big to be stored in double");
    }
    bool String(const char* text, rapidjson::SizeType size, bool) {
        return check_text({text, size}) && add(Json(std::string(text, size)));
    }
    bool StartObject() { return open(Kind::object); }
    bool Key(const char* text, rapidjson::SizeType size, bool) {
        if (!check_text({text, size})) return false;
        pending_.emplace_back(std::string(text, size), Json());
        return true;
    }
    bool EndObject(rapidjson::SizeType size) {
        JsonMembers members(std::move_iterator(pending_.end() - size), std::move_iterator(pending_.end()));
        if (has_duplicates(members)) return refuse("an object has two members of one name");
        return close(size, Json::object(std::move(members)));
    }
    bool StartArray() { return open(Kind::array); }
    bool EndArray(rapidjson::SizeType size) {
        JsonArray items;
        items.reserve(size);
        for (auto item = pending_.end() - size; item != pending_.end(); ++item)
            items.push_back(std::move(item->second));
        return close(size, Json(std::move(items)));
    }
    // NOLINTEND(readability-identifier-naming)

  private:
    enum class Kind : bool { array, object };

    bool refuse(const char* reason) {
        refusal = reason;
        return false;
    }
    // RapidJSON lets a lone low surrogate ("\\udc00") through; its bytes are no valid UTF-8.
    bool check_text(std::string_view text) {
        if (plain_) return true;
        for (std::size_t at = text.find('\xED'); at != std::string_view::npos; at = text.find('\xED', at + 1))
            if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0)
                return refuse("a string holds half of a surrogate pair");
        return true;
    }
    bool open(Kind kind) {
        if (open_.size() == max_depth) return refuse("values are nested too deeply");
        open_.push_back(kind);
        return true;
    }
    bool close(rapidjson::SizeType size, Json done) {
        pending_.erase(pending_.end() - size, pending_.end());
        open_.pop_back();
        return add(std::move(done));
    }
    bool add(Json value) {
        if (open_.empty())
            root = std::move(value);
        else if (open_.back() == Kind::array)
            pending_.emplace_back(std::string(), std::move(value));
        else
            pending_.back().second = std::move(value);
        return true;
    }

    const bool plain_;        // the whole text is
    std::vector<Kind> open_;  // the innermost last
    JsonMembers pending_;     // items of arrays have no name
};

template <class Writer>
struct WriteVisitor {
    Writer& writer;

    void operator()(std::monostate) const { writer.Null(); }
    void operator()(bool value) const { writer.Bool(value); }
    void operator()(std::int64_t value) const { writer.Int64(value); }
    void operator()(std::uint64_t value) const { writer.Uint64(value); }
    void operator()(double value) const {
        if (std::isfinite(value))
            writer.Double(value);
        else
            writer.Null();  // JSON has no form for infinity and NaN
    }
    void operator()(const std::string& value) const {
        writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    }
    void operator()(const RawJson& value) const {
        writer.RawValue(value.text.data(), value.text.size(), rapidjson::kObjectType);
    }
    void operator()(const JsonArray& items) const {
        writer.StartArray();
        for (const Json& item : items) std::visit(*this, JsonAccess::value(item));
        writer.EndArray();
    }
    void operator()(const JsonMembers& members) const {
        writer.StartObject();
        for (const auto& [key, value] : members) {
            writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
            std::visit(*this, JsonAccess::value(value));
        }
        writer.EndObject();
    }
};

template <template <class...> class Writer>
std::string write(const Json& json) {
    rapidjson::StringBuffer buffer;
    Writer<rapidjson::StringBuffer> writer(buffer);
    std::visit(WriteVisitor<Writer<rapidjson::StringBuffer>>{writer}, JsonAccess::value(json));
    return {buffer.GetString(), buffer.GetSize()};
}

template <class Stream>
using CompactWriter = rapidjson::Writer<Stream>;
template <class Stream>
using IndentingWriter = rapidjson::PrettyWriter<Stream>;

bool same_members(const JsonMembers& a, const Json& b) {
    return std::all_of(a.begin(), a.end(), [&b](const auto& member) {
        const Json* other = b.find(member.first);
        return other != nullptr && member.second == *other;
    });
}

bool same_number(const Json& a, const Json& b) {
    // The wide type holds every 64-bit integer and every double exactly.
    const auto wide = [](const auto& value) -> long double {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
            return static_cast<long double>(value);
        return 0;
    };
    return std::visit(wide, JsonAccess::value(a)) == std::visit(wide, JsonAccess::value(b));
}

}  // namespace

Json Json::object(JsonMembers members) {
    Json json;
    json.value_ = std::move(members);
    return json;
}

bool Json::is_integer() const {
    return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}

bool Json::is_number() const {
    return is_integer() || std::holds_alternative<double>(value_);
}

bool Json::as_bool() const {
    if (const bool* value = std::get_if<bool>(&value_)) return *value;
    throw_wrong_type("a boolean");
}

std::int64_t Json::as_int() const {
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
    if (const auto* value = std::get_if<std::uint64_t>(&value_); value && std::in_range<std::int64_t>(*value))
        return static_cast<std::int64_t>(*value);
    constexpr double limit = 9223372036854775808.0;  // 2 to the 63rd, the first that does not fit
    if (const auto* value = std::get_if<double>(&value_);
        value && *value >= -limit && *value < limit && std::trunc(*value) == *value)
        return static_cast<std::int64_t>(*value);
    throw_wrong_type("a 64-bit integer");
}

double Json::as_double() const {
    if (const auto* value = std::get_if<double>(&value_)) return *value;
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
    if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
    throw_wrong_type("a number");
}

const std::string& Json::as_string() const {
    if (const auto* value = std::get_if<std::string>(&value_)) return *value;
    throw_wrong_type("a string");
}

const JsonArray& Json::as_array() const {
    if (const auto* value = std::get_if<JsonArray>(&value_)) return *value;
    throw_wrong_type("an array");
}

JsonArray& Json::as_array() {
    if (auto* value = std::get_if<JsonArray>(&value_)) return *value;
    throw_wrong_type("an array");
}

const JsonMembers& Json::as_object() const {
    if (const auto* value = std::get_if<JsonMembers>(&value_)) return *value;
    throw_wrong_type("an object");
}

const Json* Json::find(std::string_view key) const {
    const auto* members = std::get_if<JsonMembers>(&value_);
    if (members == nullptr) return nullptr;
    for (const auto& member : *members)
        if (same_name(member.first, key)) return &member.second;
    return nullptr;
}

const Json& Json::at(std::string_view key) const {
    if (const Json* value = find(key)) return *value;
    throw Error(ErrorCode::not_found, "JSON member " + quoted(key) + " is missing");
}

void Json::set(std::string key, Json value) {
    if (is_null()) value_ = JsonMembers();
    auto* members = std::get_if<JsonMembers>(&value_);
    if (members == nullptr) throw_wrong_type("an object");
    for (auto& member : *members) {
        if (member.first != key) continue;
        member.second = std::move(value);
        return;
    }
    members->emplace_back(std::move(key), std::move(value));
}

void Json::erase(std::string_view key) {
    if (auto* members = std::get_if<JsonMembers>(&value_))
        std::erase_if(*members, [key](const auto& member) { return member.first == key; });
}

void Json::push_back(Json value) {
    if (is_null()) value_ = JsonArray();
    as_array().push_back(std::move(value));
}

bool Json::operator==(const Json& other) const {
    if (is_number() && other.is_number()) {
        return value_.index() == other.value_.index() ? value_ == other.value_ : same_number(*this, other);
    }
    if (is_object() && other.is_object())
        return as_object().size() == other.as_object().size() && same_members(as_object(), other);
    return value_ == other.value_;
}

std::string Json::dump() const {
    return write<CompactWriter>(*this);
}

std::string Json::dump_pretty() const {
    return write<IndentingWriter>(*this);
}

Json Json::parse(std::string_view text) {
    constexpr unsigned flags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseInsituFlag;
    const bool plain = is_plain(text);
    // RapidJSON unescapes where it reads. It looks up to three bytes beyond the end, when a character is cut
    // off there.
    std::string buffer;
    buffer.reserve(text.size() + character_size);
    buffer.append(text).append(character_size, '\0');
    rapidjson::InsituStringStream stream(buffer.data());
    rapidjson::Reader reader;
    Builder builder(plain);
    const rapidjson::ParseResult result =
        plain ? reader.Parse<flags>(stream, builder)
              : reader.Parse<flags | rapidjson::kParseValidateEncodingFlag>(stream, builder);
    const auto fail = [](std::size_t offset, std::string_view reason) {
        throw Error(ErrorCode::invalid_argument,
                    "malformed JSON at byte " + std::to_string(offset) + ": " + std::string(reason));
    };
    if (builder.refusal != nullptr) fail(result.Offset(), builder.refusal);
    if (result.IsError()) {
        std::string reason = to_lower(rapidjson::GetParseError_En(result.Code()));
        if (reason.ends_with('.')) reason.pop_back();
        fail(result.Offset(), reason);
    }
    // RapidJSON would treat a NUL as the end of the text.
    if (stream.Tell() != text.size()) fail(stream.Tell(), "text goes on after the value");
    return std::move(builder.root);
}

}  // namespace svc

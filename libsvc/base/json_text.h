#pragma once
// Writes JSON text without a tree of values, for records that an answer has many thousands of. The text is
// that of Json::dump(). The caller opens and closes objects and arrays in pairs.
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

// Appends to a text that outlives it.
class JsonText {
  public:
    explicit JsonText(std::string& out) : out_(out) {}

    JsonText& open_object() { return open('{'); }
    JsonText& close_object() { return close('}'); }
    JsonText& open_array() { return open('['); }
    JsonText& close_array() { return close(']'); }
    JsonText& key(std::string_view name);
    JsonText& value(const Json& any);
    template <class Value>
    JsonText& value(const Value& value) {
        if constexpr (std::convertible_to<const Value&, std::string_view>)
            return text(value);
        else if constexpr (std::same_as<Value, bool>)
            return raw(value ? "true" : "false");
        else
            return number(value);
    }
    template <class Value>
    JsonText& member(std::string_view name, const Value& its_value) {
        return key(name).value(its_value);
    }

  private:
    JsonText& open(char bracket);
    JsonText& close(char bracket);
    JsonText& raw(std::string_view text);  // of one value
    JsonText& text(std::string_view value);
    JsonText& number(std::integral auto value) {
        char digits[24];
        return raw({digits, std::to_chars(digits, digits + sizeof(digits), value).ptr});
    }
    void separate();
    void quote(std::string_view text);

    std::string& out_;
    bool follows_value_ = false;
};

}  // namespace svc

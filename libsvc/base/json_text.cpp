#include "libsvc/base/json_text.h"

namespace svc {

namespace {

bool is_plain(char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

void append_escape(std::string& out, char c) {
    constexpr std::string_view named = "\b\f\n\r\t\"\\";
    constexpr std::string_view names = "bfnrt\"\\";
    constexpr std::string_view digits = "0123456789ABCDEF";
    out += '\\';
    if (const auto at = named.find(c); at != std::string_view::npos) {
        out += names[at];
        return;
    }
    out += "u00";
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 15U];
}

}  // namespace

JsonText& JsonText::key(std::string_view name) {
    separate();
    quote(name);
    out_ += ':';
    follows_value_ = false;
    return *this;
}

JsonText& JsonText::text(std::string_view value) {
    separate();
    quote(value);
    return *this;
}

JsonText& JsonText::value(const Json& any) {
    return raw(any.dump());
}

JsonText& JsonText::open(char bracket) {
    separate();
    out_ += bracket;
    follows_value_ = false;
    return *this;
}

JsonText& JsonText::close(char bracket) {
    out_ += bracket;
    follows_value_ = true;
    return *this;
}

JsonText& JsonText::raw(std::string_view text) {
    separate();
    out_ += text;
    return *this;
}

void JsonText::separate() {
    if (follows_value_) out_ += ',';
    follows_value_ = true;
}

void JsonText::quote(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && is_plain(text[plain])) ++plain;
        out_ += text.substr(0, plain);
        if (plain < text.size()) append_escape(out_, text[plain++]);
        text.remove_prefix(plain);
    }
    out_ += '"';
}

}  // namespace svc

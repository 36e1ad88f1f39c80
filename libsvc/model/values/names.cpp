#include "libsvc/model/values/names.h"

#include <algorithm>
#include <array>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/instances/instance.h"

namespace svc {

namespace {

// No std::regex: it recurses for each character, and these names come from clients. ASCII only, in any
// locale.
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_letter(char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_java_word(std::string_view word) {
    return !word.empty() && is_letter(word[0]) && std::all_of(word.begin(), word.end(), [](char c) {
        return is_letter(c) || is_digit(c) || c == '_';
    });
}

// At least `words` Java words joined by dots.
bool is_dotted(std::string_view text, std::size_t words) {
    const auto parts = split(text, '.');
    return parts.size() >= words && std::all_of(parts.begin(), parts.end(), is_java_word);
}

constexpr std::array<std::string_view, 5> abis{"x86", "x86_64", "armeabi", "armeabi-v7a", "arm64-v8a"};

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

[[noreturn]] void throw_length(std::string_view field) {
    throw Error(ErrorCode::invalid_argument, "length of " + std::string(field) + " is invalid");
}

[[noreturn]] void throw_required(std::string_view field) {
    throw Error(ErrorCode::invalid_argument, std::string(field) + " is required");
}

// Letters, digits and inner hyphens, as in host names.
void check_label(std::string_view field, std::string_view name) {
    const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '-'; };
    if (!std::all_of(name.begin(), name.end(), allowed) || name.front() == '-' || name.back() == '-')
        throw_invalid(field, "only letters, digits and - are allowed, - neither first nor last");
}

// The rule that names of images, applications and addons share: they stand in URL paths, where an id may
// stand.
void check_name(std::string_view field, std::string_view name, std::string_view punctuation,
                std::string_view rule) {
    if (name.empty()) throw_required(field);
    if (name.size() > 128) throw_length(field);
    const auto allowed = [punctuation](char c) {
        return is_letter(c) || is_digit(c) || punctuation.find(c) != std::string_view::npos;
    };
    if (!std::all_of(name.begin(), name.end(), allowed)) throw_invalid(field, rule);
    // Clients and proxies remove these two segments from a URL path.
    if (name == "." || name == "..") throw_invalid(field, "must not be . or ..");
    if (is_object_id(name)) throw_invalid(field, "must not look like an id");
}

}  // namespace

void check_image_name(std::string_view field, std::string_view name) {
    check_name(field, name, "_-.:", "only letters, digits and _ - . : are allowed");
}

void check_application_name(std::string_view field, std::string_view name) {
    check_name(field, name, "_-.", "only letters, digits and _ - . are allowed");
}

void check_addon_name(std::string_view field, std::string_view name) {
    check_application_name(field, name);
}

void check_node_name(std::string_view field, std::string_view name) {
    if (name.empty()) throw_required(field);
    if (name.size() > 63) throw_length(field);
    check_label(field, name);
}

void check_instance_name(std::string_view field, std::string_view name) {
    if (name.size() < 3 || name.size() > 63) throw_length(field);
    check_label(field, name);
    if (is_object_id(name) || is_object_id(instance_id_in(name)))
        throw_invalid(field, "must not look like an id");
}

void check_account_name(std::string_view field, std::string_view name) {
    if (name.empty()) throw_invalid(field, "must not be empty");
    check_service_name(field, name);
}

void check_service_name(std::string_view field, std::string_view name) {
    if (name.empty()) return;
    const auto allowed = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
    if (name.size() > 63) throw_length(field);
    if (name[0] == '-' || !std::all_of(name.begin(), name.end(), allowed))
        throw_invalid(field, "only lower-case letters, digits and - are allowed, - not first");
}

bool is_package_name(std::string_view text) {
    return is_dotted(text, 2);
}

bool is_activity_name(std::string_view text) {
    const bool relative = !text.empty() && text[0] == '.';
    return relative ? is_java_word(text.substr(1)) : is_dotted(text, 3);
}

bool is_abi(std::string_view text) {
    return std::find(abis.begin(), abis.end(), text) != abis.end();
}

std::vector<std::string> abi_names() {
    return {abis.begin(), abis.end()};
}

bool has_control_characters(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

void check_boot_package(std::string_view field, std::string_view name) {
    if (!is_package_name(name)) throw_invalid(field, "must be a package name like com.example.app");
}

void check_boot_activity(std::string_view field, std::string_view name) {
    if (!is_activity_name(name))
        throw_invalid(field, "must be an activity like com.example.app.Main or .Main");
}

void check_list_size(std::string_view field, std::size_t size) {
    constexpr std::size_t most = 1000;
    if (size > most) throw_invalid(field, "must not have more than " + std::to_string(most) + " items");
}

void check_tag(std::string_view field, std::string_view tag) {
    if (tag.empty() || tag.size() > 256) throw_length(field);
    if (tag.find(',') != std::string_view::npos || has_control_characters(tag))
        throw_invalid(field, "commas and control characters are not allowed");
}

}  // namespace svc

#include "libsvc/model/packages/manifest_rules.h"

#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc::rules {

namespace {

constexpr std::size_t max_version_characters = 50;
constexpr unsigned max_owner_id = 65535;  // an instance has 65536 ids

std::size_t count_characters(std::string_view utf8) {
    return static_cast<std::size_t>(std::count_if(
        utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_path_component(std::string_view text) {
    return !text.empty() && text != "." && text != ".." && text.find('/') == std::string_view::npos &&
           !has_control_characters(text);
}

// An id, or the name of a user or group, which the guest resolves.
bool is_owner(std::string_view text) {
    unsigned number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end == text.data() + text.size() && !text.empty())
        return failure == std::errc() && number <= max_owner_id;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
}

// Whether `name` is the directory of the boot package: its name, in /data/app also with a suffix
// ("com.foo.candy-1"). While the boot package is not known (it may be in the APK), any package's directory.
bool is_package_directory(std::string_view directory, std::string_view boot_package, bool may_have_suffix) {
    const std::size_t dash = may_have_suffix ? directory.find('-') : std::string_view::npos;
    const std::string_view package = directory.substr(0, dash);
    if (dash != std::string_view::npos && dash + 1 == directory.size()) return false;
    return boot_package.empty() ? is_package_name(package) : package == boot_package;
}

bool is_allowed_target(const std::string& target, const std::string& boot_package) {
    for (const std::string_view place :
         {"/sdcard/Android/obb/", "/sdcard/Android/data/", "/data/app/", "/data/data/"}) {
        if (!target.starts_with(place)) continue;
        const auto components = split(std::string_view(target).substr(place.size()), '/');
        return !components.empty() && std::all_of(components.begin(), components.end(), is_path_component) &&
               is_package_directory(components[0], boot_package, place == "/data/app/");
    }
    return false;
}

void check_owner(const std::string& path, const std::string& owner) {
    const auto parts = split(owner, ':');
    if (parts.size() != 2 || !is_owner(parts[0]) || !is_owner(parts[1]))
        refuse(path, owner, "is not an owner like uid:gid");
}

void check_mode(const std::string& path, const std::string& mode) {
    if (mode.size() < 3 || mode.size() > 4 || mode.find_first_not_of("01234567") != std::string::npos)
        refuse(path, mode, "is not octal permissions like 0660");
}

ExtraData read_extra_item(const JsonFields& fields, const std::string& boot_package) {
    ExtraData item;
    item.target = fields.require_string("target");
    while (item.target.size() > 1 && item.target.ends_with('/')) item.target.pop_back();
    if (!is_allowed_target(item.target, boot_package))
        refuse(fields.path_of("target"), item.target,
               "is not below the package's directory in /sdcard/Android/obb, /sdcard/Android/data, /data/app "
               "or /data/data");
    item.owner = fields.string("owner").value_or("");
    if (!item.owner.empty()) check_owner(fields.path_of("owner"), item.owner);
    item.permissions = fields.string("permissions").value_or("");
    if (!item.permissions.empty()) check_mode(fields.path_of("permissions"), item.permissions);
    return item;
}

template <class Check>
void check_each(const std::string& path, const std::vector<std::string>& items, Check check) {
    check_list_size(path, items.size());
    for (std::size_t i = 0; i < items.size(); ++i) check(item_path(path, i), items[i]);
}

}  // namespace

std::string item_path(const std::string& path, std::size_t index) {
    std::string result = path;
    return result.append("[").append(std::to_string(index)).append("]");
}

void refuse(std::string_view path, std::string_view value, std::string_view rule) {
    throw_invalid(path, quoted(value).append(" ").append(rule));
}

void check_version_text(const std::string& path, const std::string& text) {
    if (count_characters(text) > max_version_characters) refuse(path, text, "is longer than 50 characters");
    if (has_control_characters(text)) refuse(path, text, "contains control characters");
}

void check_instance_type(const std::string& path, const std::string& name) {
    if (!name.empty() && !instance_type_resources(name)) refuse(path, name, "is an unknown instance type");
}

void check_image_reference(const std::string& path, const std::string& id_or_name) {
    if (!id_or_name.empty() && !is_object_id(id_or_name)) check_image_name(path, id_or_name);
}

void check_abi(const std::string& path, const std::string& abi) {
    if (!abi.empty() && !is_abi(abi))
        refuse(path, abi, "is not one of x86, x86_64, armeabi, armeabi-v7a, arm64-v8a");
}

void check_tags(const std::string& path, const std::vector<std::string>& tags) {
    check_each(path, tags, [](const std::string& where, const std::string& tag) { check_tag(where, tag); });
}

void check_addons(const std::string& path, const std::vector<std::string>& addons) {
    check_each(path, addons, [&](const std::string& where, const std::string& name) {
        check_addon_name(where, name);
        if (std::count(addons.begin(), addons.end(), name) > 1) refuse(where, name, "appears twice");
    });
}

void check_permissions(const std::string& path, const std::vector<std::string>& permissions) {
    check_each(path, permissions, [&](const std::string& where, const std::string& permission) {
        if (permission == "*" && permissions.size() > 1) refuse(where, permission, "must stand alone");
        if (permission.empty() || permission.size() > 256 || has_control_characters(permission) ||
            permission.find(' ') != std::string::npos)
            refuse(where, permission, "is not the name of a permission");
    });
}

void check_features(const std::string& path, const std::vector<std::string>& features) {
    check_each(path, features, [](const std::string& where, const std::string& feature) {
        if (feature.empty() || feature.size() > 256 || feature.find(',') != std::string::npos ||
            has_control_characters(feature))
            refuse(where, feature, "is not a feature flag");
    });
}

void check_keep(const std::string& path, const std::vector<std::string>& patterns) {
    check_each(path, patterns, [](const std::string& where, const std::string& pattern) {
        if (pattern.empty() || pattern.size() > 4096 || has_control_characters(pattern))
            refuse(where, pattern, "is not a pattern");
        if (pattern[0] == '/') refuse(where, pattern, "must be relative to the application's directory");
        const auto components = split(pattern, '/');
        if (std::find(components.begin(), components.end(), "..") != components.end())
            refuse(where, pattern, "must not contain ..");
    });
}

void check_command(const std::string& path, const std::string& command) {
    if (command.size() > 4096 || has_control_characters(command))
        refuse(path, command, "is not a command of one line, at most 4096 bytes long");
}

std::vector<ServiceEntry> read_services(const std::vector<JsonFields>& entries) {
    std::vector<ServiceEntry> services;
    for (const JsonFields& entry : entries) services.push_back(ServiceEntry::from_json(entry));
    check_services(services);
    return services;
}

std::map<std::string, ExtraData> read_extra_data(const JsonFields& fields, const std::string& boot_package) {
    std::map<std::string, ExtraData> items;
    const auto map = fields.object("extra-data");
    if (!map) return items;
    for (const auto& [name, value] : map->value().as_object()) {
        const std::string path = "extra-data." + name;
        if (!is_path_component(name)) refuse(path, name, "is not the name of one entry in extra-data/");
        items.emplace(name, read_extra_item(JsonFields(value, path), boot_package));
    }
    return items;
}

Json strings_json(const std::vector<std::string>& items) {
    return Json::array(JsonArray(items.begin(), items.end()));
}

Json strings_or_null(const std::vector<std::string>& items) {
    return items.empty() ? Json() : strings_json(items);
}

Json services_json(const std::vector<ServiceEntry>& services) {
    JsonArray result;
    for (const ServiceEntry& service : services) {
        Json entry = Json::object({{"name", service.name}, {"port", int{service.port}}});
        if (service.port_end != 0) entry.set("port_end", int{service.port_end});
        entry.set("protocols", strings_json(service.protocols));
        entry.set("expose", service.expose);
        result.push_back(std::move(entry));
    }
    return Json::array(std::move(result));
}

Json extra_data_json(const std::map<std::string, ExtraData>& items) {
    Json result = Json::object();
    for (const auto& [name, item] : items) {
        Json entry = Json::object({{"target", item.target}});
        if (!item.owner.empty()) entry.set("owner", item.owner);
        if (!item.permissions.empty()) entry.set("permissions", item.permissions);
        result.set(name, std::move(entry));
    }
    return result;
}

}  // namespace svc::rules

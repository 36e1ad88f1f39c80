#include "libsvc/model/packages/manifest.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"
#include "libsvc/model/packages/manifest_rules.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

using Strings = std::vector<std::string>;

constexpr std::array<std::string_view, 16> text_keys{
    "name",         "version",       "image",         "instance-type",
    "boot-package", "boot-activity", "boot",          "required-permissions",
    "addons",       "tags",          "features",      "video-encoder",
    "abi",          "extra-data",    "node-selector", "description"};
constexpr std::array<std::string_view, 5> other_keys{"watchdog", "services", "resources", "hooks",
                                                     "bootstrap"};
constexpr std::array<std::string_view, 4> addon_keys{"name", "description", "provides", "hooks"};
constexpr std::array<std::string_view, 3> supported_abis{"arm64-v8a", "armeabi-v7a", "armeabi"};

template <class Keys>
bool contains(const Keys& keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

template <class Known>
void list_unknown(const Json& document, Strings* ignored, Known known) {
    if (ignored == nullptr) return;
    for (const auto& [key, value] : document.as_object())
        if (!known(key)) ignored->push_back(key);
}

std::string read_hook_timeout(const JsonFields& fields) {
    const auto hooks = fields.object("hooks");
    std::string timeout = hooks ? hooks->string("timeout").value_or("") : "";
    parse_hook_timeout("hooks.timeout", timeout);
    return timeout;
}

// A list of strings, after its check.
template <class Check>
Strings read_list(const JsonFields& fields, std::string_view key, Check check) {
    Strings items = fields.strings(key).value_or(Strings());
    check(fields.path_of(key), items);
    return items;
}

void read_identity(const JsonFields& fields, ApplicationManifest& manifest) {
    manifest.name = fields.require_string("name");
    check_application_name("name", manifest.name);
    manifest.version = fields.string("version").value_or("");
    rules::check_version_text("version", manifest.version);
    manifest.instance_type = fields.string("instance-type").value_or("");
    rules::check_instance_type("instance-type", manifest.instance_type);
    manifest.image = fields.string("image").value_or("");
    rules::check_image_reference("image", manifest.image);
    manifest.abi = fields.string("abi").value_or("");
    rules::check_abi("abi", manifest.abi);
}

void read_boot(const JsonFields& fields, ApplicationManifest& manifest) {
    manifest.boot_package = fields.string("boot-package").value_or("");
    if (!manifest.boot_package.empty() && !is_package_name(manifest.boot_package))
        rules::refuse("boot-package", manifest.boot_package, "is not a package name like com.example.app");
    manifest.boot_activity = fields.string("boot-activity").value_or("");
    if (!manifest.boot_activity.empty() && !is_activity_name(manifest.boot_activity))
        rules::refuse("boot-activity", manifest.boot_activity,
                      "is not an activity like com.example.app.Main or .Main");
    manifest.boot = fields.string("boot").value_or("");
    rules::check_command("boot", manifest.boot);
    if (const auto encoder = fields.string("video-encoder"))
        manifest.video_encoder = parse_video_encoder("video-encoder", *encoder);
    if (const Json* const watchdog = fields.raw("watchdog"))
        manifest.watchdog = Watchdog::from_json(*watchdog);
}

void read_lists(const JsonFields& fields, ApplicationManifest& manifest) {
    manifest.required_permissions = read_list(fields, "required-permissions", rules::check_permissions);
    manifest.addons = read_list(fields, "addons", rules::check_addons);
    manifest.tags = read_list(fields, "tags", rules::check_tags);
    manifest.features = read_list(fields, "features", rules::check_features);
    manifest.node_selector = read_list(fields, "node-selector", rules::check_tags);
    if (const auto bootstrap = fields.object("bootstrap"))
        manifest.keep = read_list(*bootstrap, "keep", rules::check_keep);
}

ResourceOverrides read_resources(const JsonFields& fields) {
    const Json* const value = fields.raw("resources");
    if (value == nullptr) return {};
    ResourceOverrides resources = ResourceOverrides::from_json(*value);
    // A record prints -1 for "not set"; a manifest leaves the key out.
    if (const auto slots = JsonFields(*value, "resources").integer("gpu-slots|gpu_slots");
        slots && *slots < 0)
        rules::refuse("resources.gpu-slots", std::to_string(*slots), "is below 0");
    return resources;
}

ApplicationManifest read_manifest(const Json& document) {
    const JsonFields fields(document);
    ApplicationManifest manifest;
    read_identity(fields, manifest);
    read_boot(fields, manifest);
    read_lists(fields, manifest);
    if (const auto services = fields.objects("services")) manifest.services = rules::read_services(*services);
    manifest.resources = read_resources(fields);
    manifest.extra_data = rules::read_extra_data(fields, manifest.boot_package);
    manifest.hook_timeout = read_hook_timeout(fields);
    return manifest;
}

AddonManifest read_addon_manifest(const Json& document) {
    const JsonFields fields(document);
    AddonManifest manifest;
    manifest.name = fields.string("name").value_or("");
    if (!manifest.name.empty()) check_addon_name("name", manifest.name);
    manifest.description = fields.string("description").value_or("");
    if (const auto provides = fields.object("provides")) {
        manifest.abi_support =
            read_list(*provides, "abi-support", [](const std::string& path, const Strings& abis) {
                for (std::size_t i = 0; i < abis.size(); ++i)
                    if (!contains(supported_abis, abis[i]))
                        rules::refuse(rules::item_path(path, i), abis[i],
                                      "is not one of arm64-v8a, armeabi-v7a, armeabi");
            });
    }
    manifest.hook_timeout = read_hook_timeout(fields);
    return manifest;
}

void require_map(const Json& document) {
    if (!document.is_object())
        throw Error(ErrorCode::invalid_argument, "manifest is malformed: must be a map of keys");
}

void set_list(Json& document, const char* key, const Strings& items) {
    if (!items.empty()) document.set(key, rules::strings_json(items));
}

void set_text(Json& document, const char* key, const std::string& text) {
    if (!text.empty()) document.set(key, text);
}

Json watchdog_document(const Watchdog& watchdog) {
    Json result = Json::object({{"disabled", watchdog.disabled},
                                {"allowed-packages", rules::strings_json(watchdog.allowed_packages)}});
    set_text(result, "command", watchdog.command);
    return result;
}

Json resources_document(const ResourceOverrides& resources) {
    Json result = resources.to_json();
    if (!resources.gpu_slots) result.erase("gpu-slots");
    return result;
}

}  // namespace

std::span<const std::string_view> manifest_text_keys() {
    return text_keys;
}

ApplicationManifest ApplicationManifest::parse(const Json& document, Strings* ignored) {
    require_map(document);
    list_unknown(document, ignored,
                 [](std::string_view key) { return contains(text_keys, key) || contains(other_keys, key); });
    return with_context("manifest is malformed", [&] { return read_manifest(document); });
}

Json ApplicationManifest::to_document() const {
    Json document = Json::object({{"name", name}});
    set_text(document, "image", image);
    set_text(document, "instance-type", instance_type);
    set_text(document, "boot-package", boot_package);
    document.set("video-encoder", to_text(video_encoder));
    document.set("watchdog", watchdog_document(watchdog));
    set_text(document, "abi", abi);
    set_text(document, "version", version);
    set_text(document, "boot-activity", boot_activity);
    set_text(document, "boot", boot);
    set_list(document, "required-permissions", required_permissions);
    set_list(document, "addons", addons);
    set_list(document, "tags", tags);
    set_list(document, "features", features);
    if (!services.empty()) document.set("services", rules::services_json(services));
    if (resources != ResourceOverrides()) document.set("resources", resources_document(resources));
    if (!extra_data.empty()) document.set("extra-data", rules::extra_data_json(extra_data));
    if (!hook_timeout.empty()) document.set("hooks", Json::object({{"timeout", hook_timeout}}));
    if (!keep.empty()) document.set("bootstrap", Json::object({{"keep", rules::strings_json(keep)}}));
    set_list(document, "node-selector", node_selector);
    return document;
}

int ApplicationManifest::hook_timeout_seconds() const {
    return parse_hook_timeout("hooks.timeout", hook_timeout);
}

AddonManifest AddonManifest::parse(const Json& document, Strings* ignored) {
    require_map(document);
    list_unknown(document, ignored, [](std::string_view key) { return contains(addon_keys, key); });
    return with_context("manifest is malformed", [&] { return read_addon_manifest(document); });
}

int AddonManifest::hook_timeout_seconds() const {
    return parse_hook_timeout("hooks.timeout", hook_timeout);
}

}  // namespace svc

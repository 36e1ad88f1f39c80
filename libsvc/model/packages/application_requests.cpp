// Requests about applications, and the exported version.
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/model/packages/manifest_rules.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/numbers.h"

namespace svc {

namespace {

using Strings = std::vector<std::string>;

constexpr std::int64_t max_version_number = std::numeric_limits<int>::max();

template <class Check>
std::optional<Strings> checked_list(const JsonFields& fields, std::string_view key, Check check) {
    auto items = fields.strings(key);
    if (items) check(fields.path_of(key), *items);
    return items;
}

template <class Check>
std::optional<std::string> checked_text(const JsonFields& fields, std::string_view key, Check check) {
    auto text = fields.string(key);
    if (text) check(fields.path_of(key), *text);
    return text;
}

void check_activity(const std::string& path, const std::string& activity) {
    if (!activity.empty() && !is_activity_name(activity))
        rules::refuse(path, activity, "is not an activity like com.example.app.Main or .Main");
}

void read_settings(const JsonFields& fields, ApplicationPatch& patch) {
    patch.image = checked_text(fields, "image", rules::check_image_reference);
    patch.instance_type = checked_text(fields, "instance-type|instance_type", rules::check_instance_type);
    patch.tags = checked_list(fields, "tags", rules::check_tags);
    patch.addons = checked_list(fields, "addons", rules::check_addons);
    patch.node_selector = checked_list(fields, "node_selector|node-selector", rules::check_tags);
    if (const Json* const resources = fields.raw("resources"))
        patch.resources = ResourceOverrides::from_json(*resources);
    if (const auto pool = fields.object("pool")) patch.pool = PoolSettings::from_json(*pool);
    patch.inhibit_auto_updates = fields.boolean("inhibit_auto_updates|inhibit-auto-updates");
}

void read_version_fields(const JsonFields& fields, ApplicationPatch& patch) {
    if (const auto services = fields.objects("services")) patch.services = rules::read_services(*services);
    if (const Json* const watchdog = fields.raw("watchdog")) patch.watchdog = Watchdog::from_json(*watchdog);
    patch.boot_activity = checked_text(fields, "boot_activity|boot-activity", check_activity);
    patch.boot = checked_text(fields, "boot", rules::check_command);
    patch.manifest_version =
        checked_text(fields, "manifest_version|manifest-version", rules::check_version_text);
    patch.required_permissions =
        checked_list(fields, "required_permissions|required-permissions", rules::check_permissions);
    patch.features = checked_list(fields, "features", rules::check_features);
    if (const auto hooks = fields.object("hooks"))
        patch.hook_timeout = checked_text(*hooks, "timeout", parse_hook_timeout);
    if (const auto bootstrap = fields.object("bootstrap"))
        patch.keep = checked_list(*bootstrap, "keep", rules::check_keep);
    constexpr std::string_view encoder_key = "video_encoder|video-encoder";
    if (const auto encoder = fields.string(encoder_key))
        patch.video_encoder = parse_video_encoder(fields.path_of(encoder_key), *encoder);
}

template <class T>
void put(const std::optional<T>& from, T& to) {
    if (from) to = *from;
}

}  // namespace

Json PoolSettings::to_json() const {
    return Json::object({{"min", min}, {"max", max}, {"late_data", late_data}});
}

PoolSettings PoolSettings::from_json(const JsonFields& fields) {
    PoolSettings size;
    size.min = bounded(fields, "min", 0, most).value_or(0);
    size.max = bounded(fields, "max", 0, most).value_or(size.min);
    size.late_data = fields.boolean("late_data").value_or(false);
    if (size.max < size.min) throw_invalid(fields.path_of("max"), "must not be below min");
    return size;
}

bool ApplicationPatch::empty() const {
    return !image && !instance_type && !tags && !addons && !node_selector && !resources &&
           !inhibit_auto_updates && !pool && !services && !watchdog && !boot_activity && !boot &&
           !manifest_version && !hook_timeout && !required_permissions && !features && !keep &&
           !video_encoder;
}

ApplicationManifest ApplicationPatch::applied_to(ApplicationManifest manifest) const {
    put(services, manifest.services);
    put(watchdog, manifest.watchdog);
    put(boot_activity, manifest.boot_activity);
    put(boot, manifest.boot);
    put(manifest_version, manifest.version);
    put(hook_timeout, manifest.hook_timeout);
    put(required_permissions, manifest.required_permissions);
    put(features, manifest.features);
    put(keep, manifest.keep);
    put(video_encoder, manifest.video_encoder);
    return manifest;
}

ApplicationPatch ApplicationPatch::from_json(const Json& body) {
    ApplicationPatch patch;
    if (body.is_null()) return patch;
    const JsonFields fields(body);
    read_settings(fields, patch);
    read_version_fields(fields, patch);
    return patch;
}

VersionPatch VersionPatch::from_json(const Json& body) {
    VersionPatch patch;
    patch.published = JsonFields(body).boolean("published");
    return patch;
}

Json ExportedVersion::to_json() const {
    JsonArray refs;
    for (const PackageRef& package : packages) refs.push_back(package.to_json());
    return Json::object({{"name", name},
                         {"version", version},
                         {"manifest", manifest.to_document()},
                         {"packages", std::move(refs)},
                         {"instance-type", instance_type},
                         {"abi", abi},
                         {"tags", rules::strings_json(tags)},
                         {"resources", resources.to_json()}});
}

ExportedVersion ExportedVersion::from_json(const Json& value) {
    const JsonFields fields(value, "application");
    ExportedVersion exported;
    exported.name = fields.require_string("name");
    check_application_name(fields.path_of("name"), exported.name);
    const std::int64_t version = fields.integer("version").value_or(0);
    if (version < 0 || version > max_version_number)
        throw_invalid(fields.path_of("version"), "is out of range");
    exported.version = static_cast<int>(version);
    if (const Json* const manifest = fields.raw("manifest"))
        exported.manifest = ApplicationManifest::parse(*manifest);
    for (const JsonFields& package : fields.objects("packages").value_or(std::vector<JsonFields>()))
        exported.packages.push_back(PackageRef::from_json(package.value()));
    exported.instance_type =
        checked_text(fields, "instance-type|instance_type", rules::check_instance_type).value_or("");
    exported.abi = checked_text(fields, "abi", rules::check_abi).value_or("");
    exported.tags = checked_list(fields, "tags", rules::check_tags).value_or(Strings());
    if (const Json* const resources = fields.raw("resources"))
        exported.resources = ResourceOverrides::from_json(*resources);
    return exported;
}

}  // namespace svc

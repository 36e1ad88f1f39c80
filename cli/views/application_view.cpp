#include "cli/views/application_view.h"

#include <algorithm>

#include "cli/output/values.h"

namespace svc::cli {
namespace {

bool holds(const JsonArray& items, const std::string& text) {
    return std::any_of(items.begin(), items.end(), [&](const Json& item) { return item == Json(text); });
}

std::int64_t last_update(const Json& record) {
    std::int64_t latest = number_of(record, "created_at");
    for (const Json& version : items_of(record, "versions"))
        latest = std::max(latest, number_of(version, "created_at"));
    return latest;
}

// The addon of a newer service is an object with its version, that of an older one a name.
Json addon_label(const Json& addon) {
    if (!addon.is_object()) return addon;
    return text_of(addon, "name") + " (version " + text_of(addon, "version") + ")";
}

Json addon_labels(const Json& version) {
    JsonArray values;
    for (const Json& addon : items_of(version, "addons")) values.push_back(addon_label(addon));
    return values;
}

Json version_value(const Json& version) {
    Json value = Json::object({{"image", text_of(version, "parent_image_id") + " (version " +
                                             text_of(version, "parent_image_version") + ")"},
                               {"manifest-version", text_of(version, "manifest_version")},
                               {"published", is_true(version, "published")},
                               {"status", text_of(version, "status")},
                               {"created-at", time_text(number_of(version, "created_at"))},
                               {"addons", addon_labels(version)}});
    const std::initializer_list<std::pair<std::string, std::string_view>> shown{
        {"boot-activity", "boot_activity"},
        {"boot", "boot"},
        {"required-permissions", "required_permissions"},
        {"extra-data", "extra_data"},
        {"video-encoder", "video_encoder"},
        {"watchdog", "watchdog"},
        {"services", "services"},
        {"features", "features"},
        {"hooks", "hooks"},
        {"bootstrap", "bootstrap"},
        {"notes", "notes"},
        {"error-message", "error_message"}};
    for (const auto& [name, key] : shown)
        if (const Json& found = member(version, key); !found.is_null() && !(found == Json("")))
            value.set(name, found);
    return value;
}

}  // namespace

Json application_value(const Json& record) {
    Json value = Json::object();
    copy_members(record, value, {"id", "name", "status", "published", "immutable"});
    value.set("inhibit-auto-updates", is_true(record, "inhibit_auto_updates"));
    value.set("parent-image", text_of(record, "parent_image_id"));
    value.set("tags", Json(items_of(record, "tags")));
    value.set("addons", Json(items_of(record, "addons")));
    value.set("config", Json::object({{"instance-type", text_of(record, "instance_type")},
                                      {"boot-package", text_of(record, "boot_package")},
                                      {"abi", text_of(record, "abi")}}));
    Json versions = Json::object();
    for (const Json& version : items_of(record, "versions"))
        versions.set(std::to_string(number_of(version, "number")), version_value(version));
    value.set("versions", std::move(versions));
    copy_members(record, value, {"resources", "node_selector", "pool"});
    return value;
}

Document application_list(const JsonArray& records) {
    Document document{
        Json::array(),
        {{"ID", "NAME", "INSTANCE TYPE", "ADDONS", "TAGS", "PUBLISHED", "STATUS", "LAST UPDATED"}, {}}};
    for (const Json& record : records) {
        document.value.push_back(application_value(record));
        document.table.rows.push_back(
            {text_of(record, "id"), text_of(record, "name"), text_of(record, "instance_type"),
             comma_text(items_of(record, "addons")), comma_text(items_of(record, "tags")),
             yes_no(is_true(record, "published")), text_of(record, "status"),
             time_text(last_update(record))});
    }
    return document;
}

const std::vector<std::string>& application_condition_keys() {
    static const std::vector<std::string> keys{"instance-type", "addons",    "tag",   "tags",
                                               "published",     "immutable", "status"};
    return keys;
}

bool application_matches(const Json& record, const Condition& condition) {
    const auto& [key, value] = condition;
    if (key == "addons") return holds(items_of(record, "addons"), value);
    if (key == "tag" || key == "tags") return holds(items_of(record, "tags"), value);
    if (key == "instance-type") return text_of(record, "instance_type") == value;
    return text_of(record, key) == value;
}

}  // namespace svc::cli

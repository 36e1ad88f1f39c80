#include "libsvc/model/packages/addon.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr int addon_schema = 1;

using Strings = std::vector<std::string>;

Json list(const Strings& items) {
    return Json::array(JsonArray(items.begin(), items.end()));
}

Json version_to_json(const AddonVersion& version) {
    return Json::object({{"version", version.version},
                         {"fingerprint", version.fingerprint},
                         {"size", version.size},
                         {"created_at", to_unix_seconds(version.created_at)}});
}

Json version_to_store(const AddonVersion& version) {
    return Json::object({{"version", version.version},
                         {"fingerprint", version.fingerprint},
                         {"size", version.size},
                         {"created_at", to_rfc3339(version.created_at)},
                         {"deleting", version.deleting},
                         {"hooks", list(version.hooks)},
                         {"abi_support", list(version.abi_support)},
                         {"hook_timeout_seconds", version.hook_timeout_seconds},
                         {"description", version.description}});
}

AddonVersion version_from_store(const JsonFields& fields) {
    AddonVersion version;
    version.version = static_cast<int>(fields.require_int("version"));
    version.fingerprint = fields.require_string("fingerprint");
    version.size = static_cast<std::uint64_t>(fields.integer("size").value_or(0));
    version.created_at = from_rfc3339(fields.require_string("created_at"));
    version.deleting = fields.boolean("deleting").value_or(false);
    version.hooks = fields.strings("hooks").value_or(Strings());
    version.abi_support = fields.strings("abi_support").value_or(Strings());
    version.hook_timeout_seconds =
        static_cast<int>(fields.integer("hook_timeout_seconds").value_or(version.hook_timeout_seconds));
    version.description = fields.string("description").value_or("");
    return version;
}

template <class Versions>
auto* addon_version_of(Versions& versions, int number) {
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [number](const AddonVersion& v) { return v.version == number; });
    return found == versions.end() ? nullptr : &*found;
}

}  // namespace

const AddonVersion* Addon::version(int number) const {
    return addon_version_of(versions, number);
}

AddonVersion* Addon::version(int number) {
    return addon_version_of(versions, number);
}

const AddonVersion* Addon::newest() const {
    const auto found =
        std::find_if(versions.rbegin(), versions.rend(), [](const auto& v) { return !v.deleting; });
    return found == versions.rend() ? nullptr : &*found;
}

PackageRef Addon::package(const AddonVersion& version, bool fetch) const {
    PackageRef package;
    package.name = name;
    package.version = version.version;
    package.fingerprint = version.fingerprint;
    package.size = version.size;
    package.hooks = version.hooks;
    package.hook_timeout_seconds = version.hook_timeout_seconds;
    package.fetch = fetch;
    return package;
}

Json to_json(const Addon& addon, const Strings& used_by) {
    JsonArray versions;
    for (const AddonVersion& version : addon.versions) versions.push_back(version_to_json(version));
    return Json::object({{"name", addon.name},
                         {"versions", std::move(versions)},
                         {"used_by", used_by.empty() ? Json() : list(used_by)}});
}

Json addon_to_store(const Addon& addon) {
    JsonArray versions;
    for (const AddonVersion& version : addon.versions) versions.push_back(version_to_store(version));
    return Json::object({{"schema", addon_schema},
                         {"name", addon.name},
                         {"versions", std::move(versions)},
                         {"next_version", addon.next_version},
                         {"deleting", addon.deleting},
                         {"created_at", to_rfc3339(addon.created_at)}});
}

Addon addon_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Addon addon;
    addon.name = fields.require_string("name");
    for (const JsonFields& version : fields.objects("versions").value_or(std::vector<JsonFields>()))
        addon.versions.push_back(version_from_store(version));
    addon.next_version = static_cast<int>(fields.require_int("next_version"));
    addon.deleting = fields.boolean("deleting").value_or(false);
    addon.created_at = from_rfc3339(fields.require_string("created_at"));
    return addon;
}

std::string etag_text(const Addon& addon) {
    JsonArray versions;
    for (const AddonVersion& version : addon.versions)
        versions.push_back(
            Json::object({{"version", version.version}, {"fingerprint", version.fingerprint}}));
    return Json::object({{"name", addon.name}, {"versions", std::move(versions)}}).dump();
}

AddonRequest AddonRequest::parse(std::string_view header) {
    if (trim(header).empty()) throw Error(ErrorCode::invalid_argument, "name is required");
    const Json document = with_context("X-SVC-Request is malformed", [&] { return Json::parse(header); });
    if (!document.is_object())
        throw Error(ErrorCode::invalid_argument, "X-SVC-Request is malformed: must be an object");
    AddonRequest request;
    request.name = JsonFields(document).require_string("name");
    check_addon_name("name", request.name);
    return request;
}

}  // namespace svc

#include "libsvc/model/packages/package_ref.h"

#include <algorithm>
#include <array>
#include <limits>

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::array<std::string_view, 2> before_base{"install", "pre-start"};
constexpr std::array<std::string_view, 2> before_regular{"restore", "pre-start"};
constexpr std::array<std::string_view, 2> after_regular{"backup", "post-stop"};

constexpr std::string_view addon_type = "addon";
constexpr std::string_view application_type = "application";

bool has_any_hook(const PackageRef& package, const std::array<std::string_view, 2>& hooks) {
    return std::any_of(hooks.begin(), hooks.end(),
                       [&package](std::string_view hook) { return package.has_hook(hook); });
}

bool reads_application(const JsonFields& fields) {
    const std::string type = fields.require_string("type");
    if (type != addon_type && type != application_type)
        throw_invalid(fields.path_of("type"), "must be addon or application");
    return type == application_type;
}

std::int64_t number(const JsonFields& fields, std::string_view key, std::int64_t fallback,
                    std::int64_t highest) {
    const std::int64_t value = fields.integer(key).value_or(fallback);
    if (value < 0 || value > highest) throw_invalid(fields.path_of(key), "is out of range");
    return value;
}

}  // namespace

bool PackageRef::has_hook(std::string_view hook) const {
    return std::find(hooks.begin(), hooks.end(), hook) != hooks.end();
}

Json PackageRef::to_json() const {
    return Json::object({{"type", is_application ? application_type : addon_type},
                         {"name", name},
                         {"version", version},
                         {"fingerprint", fingerprint},
                         {"size", size},
                         {"hooks", JsonArray(hooks.begin(), hooks.end())},
                         {"hook_timeout_seconds", hook_timeout_seconds},
                         {"fetch", fetch}});
}

PackageRef PackageRef::from_json(const Json& value) {
    constexpr std::int64_t max_int = std::numeric_limits<int>::max();
    const JsonFields fields(value);
    PackageRef package;
    package.is_application = reads_application(fields);
    package.name = fields.require_string("name");
    package.version = static_cast<int>(number(fields, "version", 0, max_int));
    package.fingerprint = fields.string("fingerprint").value_or("");
    package.size =
        static_cast<std::uint64_t>(number(fields, "size", 0, std::numeric_limits<std::int64_t>::max()));
    package.hooks = fields.strings("hooks").value_or(std::vector<std::string>());
    package.hook_timeout_seconds =
        static_cast<int>(number(fields, "hook_timeout_seconds", package.hook_timeout_seconds, max_int));
    package.fetch = fields.boolean("fetch").value_or(false);
    return package;
}

std::vector<PackageRef> all_there(std::vector<PackageRef> packages) {
    for (PackageRef& package : packages) package.fetch = false;
    return packages;
}

bool boots_with_agent(const std::vector<PackageRef>& packages, bool base) {
    const auto& hooks = base ? before_base : before_regular;
    return std::any_of(packages.begin(), packages.end(), [&hooks](const PackageRef& package) {
        return package.fetch || has_any_hook(package, hooks);
    });
}

bool ends_with_hooks(const std::vector<PackageRef>& packages, bool base) {
    return base || std::any_of(packages.begin(), packages.end(), [](const PackageRef& package) {
               return has_any_hook(package, after_regular);
           });
}

}  // namespace svc

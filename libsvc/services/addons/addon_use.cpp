#include "libsvc/services/addons/addon_use.h"

#include <algorithm>
#include <string_view>

#include "libsvc/model/cluster/config.h"

namespace svc {

namespace {

bool uses(const Application& application, const std::string& addon, std::optional<int> version) {
    if (application.deleting) return false;
    if (!version && std::ranges::find(application.addons, addon) != application.addons.end()) return true;
    return std::ranges::any_of(application.versions, [&](const ApplicationVersion& made) {
        return made.status != ImageStatus::deleted &&
               std::ranges::any_of(made.packages, [&](const PackageRef& package) {
                   return !package.is_application && package.name == addon &&
                          (!version || package.version == *version);
               });
    });
}

// An instance has fetched the addon's files once its guest has been up.
bool fetches(const Instance& instance, const std::string& addon, std::optional<int> version) {
    const bool comes_up = instance.status == InstanceStatus::created ||
                          instance.status == InstanceStatus::prepared ||
                          instance.status == InstanceStatus::started;
    return comes_up && std::ranges::any_of(instance.packages, [&](const PackageRef& package) {
               return package.fetch && !package.is_application && package.name == addon &&
                      (!version || package.version == *version);
           });
}

}  // namespace

bool AddonUse::is_in_use(const std::string& name, std::optional<int> version) const {
    const auto applications = applications_.list();
    const auto instances = instances_.list();
    const auto global = config_.find("application.addons");
    const auto everywhere = global ? split_config_list(global->value) : std::vector<std::string>();
    return (!version && std::ranges::find(everywhere, name) != everywhere.end()) ||
           std::ranges::any_of(applications, [&](const auto& a) { return uses(*a, name, version); }) ||
           std::ranges::any_of(instances, [&](const auto& i) { return fetches(*i, name, version); });
}

std::vector<std::string> AddonUse::used_by(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& application : applications_.list())
        if (uses(*application, name, std::nullopt)) names.push_back(application->name);
    return names;
}

}  // namespace svc

#include "libsvc/services/registry/missing_versions.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/services/registry/catalogue_versions.h"

namespace svc {

MissingVersions::MissingVersions(const ApplicationService& applications, const ConfigService& config,
                                 const RegistryWithdrawals& withdrawals, std::string architecture)
    : applications_(applications),
      config_(config),
      withdrawals_(withdrawals),
      architecture_(std::move(architecture)) {}

std::shared_ptr<const Application> MissingVersions::find_local(std::string_view id_or_name) const {
    try {
        return applications_.get(id_or_name);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return nullptr;
    }
}

// A catalogue with several architectures may have some versions for other architectures only.
std::vector<int> MissingVersions::missing_here(Catalogue& catalogue,
                                               const CatalogueApplication& offered) const {
    const auto at_most = config_.values().number("application.max_published_versions");
    const auto local = find_local(offered.name);
    auto versions = versions_to_pull(offered, local.get(), architecture_, static_cast<std::size_t>(at_most));
    if (offered.architectures.size() < 2) return versions;
    std::erase_if(versions,
                  [&](int version) { return !catalogue.has(offered.name, version, architecture_); });
    return versions;
}

std::vector<int> MissingVersions::to_publish_without_request(const Application& application) const {
    std::vector<int> versions = versions_to_publish(application);
    std::erase_if(versions, [&](int number) { return withdrawals_.covers(application.name, number); });
    return versions;
}

std::vector<int> MissingVersions::missing_there(Catalogue& catalogue, const Application& application,
                                                const std::vector<int>& wanted) {
    std::vector<int> missing;
    for (const int number : versions_to_publish(application)) {
        if (!std::binary_search(wanted.begin(), wanted.end(), number)) continue;
        const std::string& architecture = application.version(number)->architecture;
        if (!catalogue.has(application.name, number, architecture)) missing.push_back(number);
    }
    return missing;
}

}  // namespace svc

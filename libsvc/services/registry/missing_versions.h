#pragma once
// Which versions this service or the registry lacks.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/remote/catalogue.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/registry/registry_withdrawals.h"

namespace svc {

// Thread-safe.
class MissingVersions {
  public:
    MissingVersions(const ApplicationService& applications, const ConfigService& config,
                    const RegistryWithdrawals& withdrawals, std::string architecture);

    std::shared_ptr<const Application> find_local(std::string_view id_or_name) const;  // null: none
    // The versions that this service lacks of the newest ones of the registry, for its architecture.
    // Blocks on the network.
    std::vector<int> missing_here(Catalogue& catalogue, const CatalogueApplication& offered) const;
    // The versions in `wanted` that are published here and absent from the registry. Blocks on the network.
    static std::vector<int> missing_there(Catalogue& catalogue, const Application& application,
                                          const std::vector<int>& wanted);
    // The published versions without those that were deleted from the registry on purpose.
    std::vector<int> to_publish_without_request(const Application& application) const;

  private:
    const ApplicationService& applications_;
    const ConfigService& config_;
    const RegistryWithdrawals& withdrawals_;
    const std::string architecture_;
};

}  // namespace svc

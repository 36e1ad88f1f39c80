#include "libsvc/services/registry/registry_service.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/registry/catalogue_versions.h"

namespace svc {

RegistryService::RegistryService(RegistryServiceParts parts)
    : applications_(parts.applications),
      withdrawals_(parts.keys / "withdrawn.json"),
      connection_(parts.certificates, parts.config, parts.keys, parts.open),
      missing_(parts.applications, parts.config, withdrawals_, parts.architecture),
      operations_(parts.engine, connection_),
      transfer_({parts.applications, connection_, missing_, withdrawals_, parts.blobs, parts.engine,
                 parts.architecture}),
      sync_({parts.applications, connection_, missing_, operations_}) {}

std::string RegistryService::name_of(std::string_view id_or_name) const {
    if (const auto local = missing_.find_local(id_or_name)) return local->name;
    if (is_object_id(id_or_name)) throw Error(ErrorCode::not_found, "application not found");
    check_application_name("name", id_or_name);
    return std::string(id_or_name);
}

std::vector<CatalogueApplication> RegistryService::list() {
    const auto wanted = connection_.filter();
    auto applications = connection_.open()->list();
    std::erase_if(applications, [&](const auto& one) { return !passes_filter(one.tags, wanted); });
    return applications;
}

Started RegistryService::push(std::string_view id_or_name, std::string requestor) {
    connection_.check_mode("pushing an application in mode pull", "pull");
    const auto application = applications_.get(id_or_name);
    const std::vector<int> versions = versions_to_publish(*application);
    if (versions.empty()) throw Error(ErrorCode::not_found, "published application version not found");
    withdrawals_.forget(application->name);
    return operations_.join_or_push(*application, versions, {std::string(id_or_name), std::move(requestor)});
}

Started RegistryService::pull(std::string_view id_or_name, std::string requestor) {
    connection_.check_mode("pulling an application in mode push", "push");
    const std::string name = name_of(id_or_name);
    const auto local = missing_.find_local(name);
    if (local && !local->immutable)
        throw Error(ErrorCode::conflict, "application " + quoted(name) + " already exists");
    return operations_.join_or_pull(name, {std::string(id_or_name), std::move(requestor)});
}

Started RegistryService::remove(std::string_view id_or_name, std::string requestor) {
    connection_.check_configured();
    return operations_.remove(name_of(id_or_name), {std::string(id_or_name), std::move(requestor)});
}

}  // namespace svc

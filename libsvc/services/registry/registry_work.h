#pragma once
// The inside of RegistryService, behind which applications, trust and configuration are whatever the owner
// says.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/model/cluster/config.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/registry/registry_service.h"
#include "libsvc/services/registry/registry_withdrawals.h"

namespace svc {

// What the registry asks of the applications here; see ApplicationService for what each call means.
class LocalApplications {
  public:
    virtual ~LocalApplications() = default;
    virtual std::shared_ptr<const Application> get(
        std::string_view id_or_name) const = 0;  // throws not_found
    virtual std::vector<std::shared_ptr<const Application>> list() const = 0;
    virtual std::string manifest(std::string_view id, int version) const = 0;
    virtual ApplicationExport export_version(std::string_view id, int version) = 0;
    virtual Started import_version(ImportedVersion version, std::string requestor) = 0;
    virtual Started remove(std::string_view id, bool force, std::string requestor) = 0;
};

struct RegistryWorkParts {
    LocalApplications& applications;
    std::function<bool(const std::string& fingerprint)> trusted;  // in the trust store
    std::function<ConfigValues()> config;
    BlobStore& blobs;
    Engine& engine;
    std::filesystem::path keys;
    std::string architecture;
};

// Thread-safe. registry_work.cpp takes requests and compares, registry_transfer.cpp does what they started.
class RegistryWork {
  public:
    explicit RegistryWork(RegistryWorkParts parts);

    std::vector<CatalogueApplication> list();
    Started push(std::string_view id_or_name, std::string requestor);
    Started pull(std::string_view id_or_name, std::string requestor);
    Started remove(std::string_view id_or_name, std::string requestor);
    void synchronise();
    void published(const std::string& application_id);

  private:
    void register_kinds();
    void check_configured() const;
    void check_mode(std::string_view action, std::string_view forbidden_mode) const;
    std::unique_ptr<Catalogue> open() const;
    std::shared_ptr<const Application> find_local(std::string_view id_or_name) const;  // null: none
    std::string name_of(std::string_view id_or_name) const;
    void check_idle(std::string_view kind, const std::string& name) const;
    Started start(std::string kind, std::string_view addressed, Json arguments, std::string requestor);
    Started join_or_start(std::string kind, std::string_view addressed, Json arguments,
                          std::string requestor);
    Json push_of(const Application& application, const std::vector<int>& versions) const;
    Json pull_of(const std::string& name) const;

    void synchronise_pull();
    void pull_new(Catalogue& catalogue, const CatalogueApplication& offered);
    void forget_missing(const std::vector<CatalogueApplication>& offered);
    void synchronise_push();
    void push_new(Catalogue& catalogue, const Application& application);
    void start_own_push(const Application& application);
    std::vector<int> versions_by_itself(const Application& application) const;
    static std::vector<int> missing_there(Catalogue& catalogue, const Application& application,
                                          const std::vector<int>& wanted);
    std::vector<int> missing_here(Catalogue& catalogue, const CatalogueApplication& offered) const;

    OperationResult run_push(OperationContext& context);
    void push_version(Catalogue& catalogue, const Application& application, int version,
                      OperationContext& context);
    OperationResult run_pull(OperationContext& context);
    void pull_version(Catalogue& catalogue, const std::string& name, int version, OperationContext& context);
    OperationResult run_remove(const OperationContext& context);

    RegistryWorkParts parts_;
    RegistryWithdrawals withdrawals_;
};

}  // namespace svc

#include "libsvc/services/registry/registry_service.h"

#include "libsvc/base/error.h"
#include "libsvc/services/registry/registry_work.h"

namespace svc {

namespace {

class OwnApplications final : public LocalApplications {
  public:
    explicit OwnApplications(ApplicationService& service) : service_(service) {}
    std::shared_ptr<const Application> get(std::string_view id_or_name) const override {
        return service_.get(id_or_name);
    }
    std::vector<std::shared_ptr<const Application>> list() const override { return service_.list(); }
    std::string manifest(std::string_view id, int version) const override {
        return service_.manifest(id, version);
    }
    ApplicationExport export_version(std::string_view id, int version) override {
        return service_.export_version(id, version);
    }
    Started import_version(ImportedVersion version, std::string requestor) override {
        return service_.import_version(std::move(version), requestor);
    }
    Started remove(std::string_view id, bool force, std::string requestor) override {
        return service_.remove(id, force, requestor);
    }

  private:
    ApplicationService& service_;
};

bool is_in_store(const CertificateService& certificates, const std::string& fingerprint) {
    try {
        return certificates.get(fingerprint)->fingerprint == fingerprint;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return false;
    }
}

RegistryWorkParts work_parts(RegistryServiceParts&& parts, LocalApplications& applications) {
    return {applications,
            [&certificates = parts.certificates](const std::string& fingerprint) {
                return is_in_store(certificates, fingerprint);
            },
            [&config = parts.config] { return config.values(); },
            parts.blobs,
            parts.engine,
            std::move(parts.keys),
            std::move(parts.architecture)};
}

}  // namespace

class RegistryService::Implementation {
  public:
    explicit Implementation(RegistryServiceParts parts)
        : applications(parts.applications), work(work_parts(std::move(parts), applications)) {}

    OwnApplications applications;
    RegistryWork work;
};

RegistryService::RegistryService(RegistryServiceParts parts)
    : implementation_(std::make_unique<Implementation>(std::move(parts))) {}

RegistryService::~RegistryService() = default;

std::vector<CatalogueApplication> RegistryService::list() {
    return implementation_->work.list();
}

Started RegistryService::push(std::string_view id_or_name, std::string requestor) {
    return implementation_->work.push(id_or_name, std::move(requestor));
}

Started RegistryService::pull(std::string_view name, std::string requestor) {
    return implementation_->work.pull(name, std::move(requestor));
}

Started RegistryService::remove(std::string_view name, std::string requestor) {
    return implementation_->work.remove(name, std::move(requestor));
}

void RegistryService::synchronise() {
    implementation_->work.synchronise();
}

void RegistryService::published(const std::string& application_id) {
    implementation_->work.published(application_id);
}

}  // namespace svc

#include "libsvc/services/applications/bootstrap_records.h"

#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/applications/application_versions.h"

namespace svc {

Error bootstrap_cancelled() {
    return Error(ErrorCode::cancelled, "Operation cancelled");
}

log::Fields version_fields(const ApplicationTarget& target) {
    return {{"application", target.application}, {"version", std::to_string(target.version)}};
}

bool BootstrapRecords::is_there(const ApplicationTarget& target) const {
    const auto application = applications_.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    return version != nullptr && version->status != ImageStatus::deleted;
}

std::string BootstrapRecords::choose_base(const ApplicationTarget& target) {
    const std::string id = ids_.object_id();
    const auto application = applications_.update(target.application, [&](Application& record) {
        ApplicationVersion* const version = record.version(target.version);
        if (version == nullptr || version->status != ImageStatus::initializing || record.deleting)
            throw bootstrap_cancelled();
        if (version->base_instance.empty()) version->base_instance = id;
    });
    return version_of(*application, target.version).base_instance;
}

void BootstrapRecords::activate(const ApplicationTarget& target, const BootstrappedLayer& layer) {
    applications_.update(target.application, [&](Application& application) {
        ApplicationVersion* const version = application.version(target.version);
        if (version == nullptr || version->status != ImageStatus::initializing) throw bootstrap_cancelled();
        version->status = ImageStatus::active;
        version->layer = layer.name;
        version->layer_size = layer.bytes;
        version->notes = joined_notes(version->notes, layer.notes);
        version->published = layer.publish;
    });
    auto fields = version_fields(target);
    fields.emplace_back("bytes", std::to_string(layer.bytes));
    fields.emplace_back("published", layer.publish ? "true" : "false");
    log::info("application version active", fields);
}

std::string BootstrapRecords::fail(const ApplicationTarget& target, const std::string& reason) {
    const auto application = applications_.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || version->status == ImageStatus::active) return {};
    applications_.update(target.application, [&](Application& record) {
        ApplicationVersion* const failed = record.version(target.version);
        if (failed == nullptr || failed->status != ImageStatus::initializing) return;
        failed->status = ImageStatus::error;
        failed->error_message = clipped(reason, max_error_bytes);
    });
    auto fields = version_fields(target);
    fields.emplace_back("error", reason);
    log::warning("bootstrap failed", fields);
    return version->base_instance;
}

void BootstrapRecords::forget_base(const ApplicationTarget& target) {
    applications_.update(target.application, [&](Application& application) {
        if (ApplicationVersion* const version = application.version(target.version))
            version->base_instance.clear();
    });
}

}  // namespace svc

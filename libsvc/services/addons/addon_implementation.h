#pragma once
// The inside of AddonService: addon_service.cpp takes requests, addon_work.cpp does what they started.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/services/addons/addon_service.h"

namespace svc {

class AddonService::Implementation {
  public:
    explicit Implementation(AddonServiceParts parts);

    void check_create(const AddonRequest& request) const;
    std::shared_ptr<const Addon> check_update(std::string_view name) const;
    Started create(const AddonRequest& request, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor);
    Started update(std::string_view name, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor, const Precondition& unchanged);
    Started remove(std::string_view name, std::string requestor);
    Started remove_version(std::string_view name, int version, std::string requestor);
    std::vector<std::string> used_by(const std::string& name) const;  // names of applications
    const Addons& addons() const { return parts_.addons; }

    std::function<void(const std::string&)> new_version_listener;  // set once, before there is work

  private:
    // One version of one addon, as operations name it; the whole addon without a version.
    struct Target {
        std::string addon;
        int version = 0;
        Json to_json() const;
        static Target of(const Operation& operation);
    };

    OperationSpec spec_for(std::string kind, std::string description, const Target& target,
                           std::string requestor) const;
    AddonVersion new_version(const UploadedPackage& package, std::string_view fingerprint) const;
    Started start_import(UploadedPackage package, const std::function<Started()>& start);
    bool is_in_use(const std::string& name, std::optional<int> version) const;

    void register_kinds();
    void add_references(ContentReferences& used) const;
    OperationResult tell_of(const Target& target) const;
    OperationResult undo_create(const Target& target);
    OperationResult undo_update(const Target& target);
    OperationResult erase(const Target& target);
    OperationResult erase_version(const Target& target);
    OperationResult restore(const Target& target);
    OperationResult restore_version(const Target& target);

    AddonServiceParts parts_;
};

}  // namespace svc

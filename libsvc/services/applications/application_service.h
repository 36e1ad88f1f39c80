#pragma once
// Rules of applications: packages, versions and their bootstrap, publication, updates, export, deletion
// (specification: Applications; facts 5, 6).
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

struct ApplicationServiceParts {
    Applications& applications;
    AddonService& addons;
    ImageService& images;
    InstanceService& instances;
    ConfigService& config;
    Content& content;
    Engine& engine;
    Clock& clock;
    IdSource& ids;
    std::string architecture;  // of the cluster
    Duration bootstrap_limit = std::chrono::minutes(15);
    std::size_t bootstraps_at_once = 4;
};

// An export that is about to be sent.
struct ApplicationExport {
    std::unique_ptr<ArchiveStream> archive;
    std::string fingerprint;  // SHA-256 of the archive
    std::uint64_t size = 0;
    std::string file_name;  // "candy-3.tar.gz"
    std::string manifest_sha256;
};

// A version that comes from elsewhere: a registry.
struct ImportedVersion {
    ExportedVersion version;
    std::string architecture;
    UploadedPackage archive;  // as export_version() made it
};

// Thread-safe. Registers "application.create", "application.update", "application.bootstrap",
// "application.patch", "application.publish", "application.delete", "application.delete_version",
// "application.import". A version is bootstrapped by an operation of its own ("Bootstrapping application")
// that holds no worker while it waits and is continued after a restart from what the records say. Stop the
// engine before this is destroyed.
class ApplicationService {
  public:
    explicit ApplicationService(ApplicationServiceParts parts);
    ~ApplicationService();

    // Package checks (manifest, image 404, addons 404, ABI, name free 409) come before the operation.
    Started create(UploadedPackage package, std::string_view fingerprint, std::string requestor);
    std::shared_ptr<const Application> check_update(
        std::string_view id_or_name) const;  // before a body is read
    Started update(std::string_view id_or_name, UploadedPackage package, std::string_view fingerprint,
                   const std::string& requestor, const Precondition& unchanged = {});
    Started patch(std::string_view id_or_name, const ApplicationPatch& patch, const std::string& requestor,
                  const Precondition& unchanged = {});
    Started remove(std::string_view id_or_name, bool force, const std::string& requestor);
    Started remove_version(std::string_view id_or_name, int version, bool force,
                           const std::string& requestor);
    Started publish(std::string_view id_or_name, int version, bool published, const std::string& requestor);

    std::shared_ptr<const Application> get(std::string_view id_or_name) const;
    std::vector<std::shared_ptr<const Application>> list() const;
    std::string etag(const Application& application) const;
    // YAML text of that version's manifest, of the newest without one.
    std::string manifest(std::string_view id_or_name, std::optional<int> version) const;
    // Only active versions. Deterministic; the first export of a version runs through the archive once to
    // know its fingerprint. Blocks meanwhile: call it on a pool thread.
    ApplicationExport export_version(std::string_view id_or_name, int version);

    // From a registry: makes the application (immutable) or adds the version unless it is there. Returns when
    // the work is queued; the operation's result tells.
    Started import_version(ImportedVersion version, const std::string& requestor);

    // Something that applications depend on has a new version; any thread, returns at once.
    void image_changed(const std::string& image_id);
    void addon_changed(const std::string& addon);
    void global_addons_changed();
    void enforce_limits();  // application.max_published_versions; also when an instance of a version is gone
    // Called with the application's id after one of its versions may have become published; any thread. Set
    // before the engine starts.
    void on_published(std::function<void(const std::string& id)> listener);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc

#pragma once
// Applications and their versions (specification: Application, Application version; docs/applications.md,
// docs/management.md). Values; not thread-safe.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/model/packages/manifest.h"
#include "libsvc/model/packages/package_ref.h"

namespace svc {

struct ApplicationTag;
using ApplicationId = Id<ApplicationTag>;

enum class ApplicationStatus { error = -1, unknown = 0, initializing = 1, ready = 2, deleted = 3 };
std::string_view to_text(ApplicationStatus status);

// The image version that an application version is made from.
struct ParentImage : GuestImage {
    std::string parent_image_id;
    int parent_image_version = 0;
    std::string parent_layer;  // "" when the version is a whole root file system (imported)
};

// Of the archive that an export is.
struct ExportDigest {
    std::string format;       // ArchiveStream::format() of it: archives of other formats have other digests
    std::string fingerprint;  // SHA-256
    std::uint64_t size = 0;   // bytes
};

struct ApplicationVersion : ParentImage {
    int number = 0;
    ImageStatus status = ImageStatus::initializing;
    bool published = false;
    Time created_at{};
    std::string error_message;
    // The package's manifest with all PATCHes since. The API shows of it:
    // manifest_version, boot_activity, boot, required_permissions, extra_data, video_encoder, watchdog,
    // services, features, hooks, bootstrap.
    ApplicationManifest manifest;
    // Addons, then the application itself; `fetch` is false. The API shows the addons (name, version).
    std::vector<PackageRef> packages;
    std::vector<std::string> notes;  // extension: deviations during the bootstrap
    // Not in the API:
    std::string package;  // fingerprint of the application package; "" for an imported version
    std::uint64_t package_size = 0;
    std::string layer;          // "" until the bootstrap or the import has made it
    std::string base_instance;  // id of the container that bootstraps it, chosen before the container is made
    std::uint64_t layer_size = 0;                 // bytes
    std::map<std::string, ExportDigest> exports;  // by compression; those that have been made once

    std::vector<std::string> layers() const;  // lowest first
};

// How many instances of its newest published version wait, booted, for the launches of an application
// (docs/pool.md): `min` always, up to `max` while launches come.
struct PoolSettings {
    static constexpr int most = 1000;  // of application.max_pool_size as well
    int min = 0;
    int max = 0;
    // The application does not mind that name and user data of a launch reach its guest only after the boot.
    bool late_data = false;
    bool empty() const { return max == 0; }
    bool operator==(const PoolSettings&) const = default;
    Json to_json() const;  // {"min":2,"max":5,"late_data":false}
    // Without `max` it is as large as `min`. Throws invalid_argument.
    static PoolSettings from_json(const JsonFields& fields);
};

struct Application {
    ApplicationId id;
    std::string name;
    std::vector<ApplicationVersion> versions;  // ascending
    int next_version = 0;                      // numbers are never used again
    Time created_at{};
    bool immutable = false;  // comes from a registry
    bool deleting = false;
    bool inhibit_auto_updates = false;
    bool pending_update = false;  // its image or an addon changed during a bootstrap: check again after it
    // Changed by PATCH without a version:
    std::string image;  // name or id as the client gave it
    std::string parent_image_id;
    std::string instance_type;
    std::vector<std::string> tags;
    std::vector<std::string> addons;  // without those of the configuration key application.addons
    ResourceOverrides resources;
    std::vector<std::string> node_selector;
    std::string abi;
    PoolSettings pool;

    ApplicationStatus status() const;                     // follows the newest version
    bool published() const;                               // any version is
    const ApplicationVersion* version(int number) const;  // null pointer: none
    ApplicationVersion* version(int number);
    const ApplicationVersion* newest() const;            // null pointer: none
    const ApplicationVersion* newest_published() const;  // highest numbered, published and active
    InstanceResources effective_resources() const;       // instance type overlaid by `resources`
};

Json to_json(const Application& application);  // the record of the API
Json application_to_store(const Application& application);
Application application_from_store(const Json& stored);
std::string etag_text(const Application& application);

// Body of PATCH of an application (docs/applications.md, "Updates"). Keys may be spelled with - or _.
struct ApplicationPatch {
    // Without a version:
    std::optional<std::string> image, instance_type;
    std::optional<std::vector<std::string>> tags, addons, node_selector;
    std::optional<ResourceOverrides> resources;
    std::optional<bool> inhibit_auto_updates;
    std::optional<PoolSettings> pool;
    // With a version:
    std::optional<std::vector<ServiceEntry>> services;
    std::optional<Watchdog> watchdog;
    std::optional<std::string> boot_activity, boot, manifest_version, hook_timeout;
    std::optional<std::vector<std::string>> required_permissions, features, keep;
    std::optional<VideoEncoder> video_encoder;

    bool empty() const;  // an empty body asks for pending updates
    // `manifest` with the fields of the second group replaced.
    ApplicationManifest applied_to(ApplicationManifest manifest) const;
    static ApplicationPatch from_json(const Json& body);  // throws invalid_argument naming the key
};

struct VersionPatch {
    std::optional<bool> published;
    static VersionPatch from_json(const Json& body);
};

// The key `application` in metadata.yaml of an exported version: what another service needs to import it.
struct ExportedVersion {
    std::string name;
    ApplicationManifest manifest;
    std::vector<PackageRef> packages;
    int version = 0;
    std::string instance_type, abi;
    std::vector<std::string> tags;
    ResourceOverrides resources;
    Json to_json() const;
    static ExportedVersion from_json(const Json& value);
};

}  // namespace svc

#include "libsvc/services/applications/version_maker.h"

#include <utility>

#include "libsvc/services/applications/application_versions.h"

namespace svc {

ApplicationVersion& VersionMaker::add(Application& application, const VersionFoundation& foundation,
                                      ApplicationManifest manifest) const {
    ApplicationVersion version;
    version.number = application.next_version++;
    version.created_at = clock_.now();
    static_cast<ParentImage&>(version) = foundation;
    version.packages = foundation.addons;
    version.manifest = std::move(manifest);
    application.pending_update = false;
    application.versions.push_back(std::move(version));
    return application.versions.back();
}

void VersionMaker::set_package(ApplicationVersion& version, const std::string& name,
                               const std::string& fingerprint, std::uint64_t size,
                               const std::vector<std::string>& hooks) {
    version.package = fingerprint;
    version.package_size = size;
    PackageRef package;
    package.is_application = true;
    package.name = name;
    package.version = version.number;
    package.fingerprint = fingerprint;
    package.size = size;
    package.hooks = hooks;
    package.hook_timeout_seconds = version.manifest.hook_timeout_seconds();
    version.packages.push_back(std::move(package));
}

ApplicationTarget VersionMaker::repeat(Application& application, const VersionFoundation& foundation,
                                       ApplicationManifest manifest) const {
    const ApplicationVersion before = newest_of(application);
    const PackageRef* const own = own_package(before);
    ApplicationVersion& version = add(application, foundation, std::move(manifest));
    set_package(version, application.name, before.package, before.package_size,
                own == nullptr ? std::vector<std::string>() : own->hooks);
    return target(application, version);
}

ApplicationTarget VersionMaker::target(const Application& application,
                                       const ApplicationVersion& version) const {
    return {application.id.str(), version.number, ids_.uuid()};
}

}  // namespace svc

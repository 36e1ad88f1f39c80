#include "libsvc/services/addons/addon_service.h"

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/model/cluster/config.h"
#include "libsvc/model/packages/manifest.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/addons/addon_implementation.h"
#include "libsvc/services/common/package_contents.h"
#include "libsvc/services/common/retry.h"

namespace svc {

namespace {

[[noreturn]] void throw_deleting() {
    throw Error(ErrorCode::busy, "deletion already in progress");
}

void check_changed(const Addon& addon, const std::string& fingerprint) {
    const AddonVersion* const newest = addon.newest();
    if (newest != nullptr && newest->fingerprint == fingerprint)
        throw Error(ErrorCode::invalid_argument, "addon not changed");
}

bool uses(const Application& application, const std::string& addon, std::optional<int> version) {
    if (application.deleting) return false;
    if (!version && std::ranges::find(application.addons, addon) != application.addons.end()) return true;
    return std::ranges::any_of(application.versions, [&](const ApplicationVersion& made) {
        return made.status != ImageStatus::deleted &&
               std::ranges::any_of(made.packages, [&](const PackageRef& package) {
                   return !package.is_application && package.name == addon &&
                          (!version || package.version == *version);
               });
    });
}

// Once its guest has been up, an instance has the addon's files.
bool fetches(const Instance& instance, const std::string& addon, std::optional<int> version) {
    const bool comes_up = instance.status == InstanceStatus::created ||
                          instance.status == InstanceStatus::prepared ||
                          instance.status == InstanceStatus::started;
    return comes_up && std::ranges::any_of(instance.packages, [&](const PackageRef& package) {
               return package.fetch && !package.is_application && package.name == addon &&
                      (!version || package.version == *version);
           });
}

}  // namespace

AddonService::Implementation::Implementation(AddonServiceParts parts) : parts_(parts) {
    parts_.content.add_referrer([this](ContentReferences& used) { add_references(used); });
    register_kinds();
}

void AddonService::Implementation::check_create(const AddonRequest& request) const {
    check_addon_name("name", request.name);
    if (parts_.addons.find(request.name)) throw Error(ErrorCode::conflict, "addon already exists");
}

std::shared_ptr<const Addon> AddonService::Implementation::check_update(std::string_view name) const {
    auto addon = parts_.addons.get(name);
    if (addon->deleting) throw_deleting();
    return addon;
}

Started AddonService::Implementation::create(const AddonRequest& request, UploadedPackage package,
                                             std::string_view fingerprint, std::string requestor) {
    check_create(request);
    Addon addon;
    addon.name = request.name;
    addon.created_at = parts_.clock.now();
    addon.versions.push_back(new_version(package, fingerprint));
    addon.next_version = 1;
    const auto spec = spec_for("addon.add", "Creating addon", {addon.name, 0}, std::move(requestor));
    return start_import(std::move(package), [&] {
        try {
            Batch batch;
            parts_.addons.stage_create(batch, addon);
            return parts_.engine.start(spec, std::move(batch));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict && e.code() != ErrorCode::busy) throw;
            throw Error(ErrorCode::conflict,
                        "addon already exists");  // another upload of that name was faster
        }
    });
}

Started AddonService::Implementation::update(std::string_view name, UploadedPackage package,
                                             std::string_view fingerprint, std::string requestor,
                                             const Precondition& unchanged) {
    check_changed(*check_update(name), package.info.digest);
    const AddonVersion version = new_version(package, fingerprint);
    return start_import(std::move(package), [&] {
        return retry_on_conflict([&] {
            const auto addon = check_update(name);
            check_changed(*addon, version.fingerprint);
            auto spec =
                spec_for("addon.update", "Updating addon", {addon->name, addon->next_version}, requestor);
            spec.wait_for_claims = true;  // behind an update that has just been taken, not in its place
            spec.cancel_holders = false;
            Batch batch;
            parts_.addons.stage_update(batch, addon->name, [&](Addon& changed) {
                if (unchanged) unchanged(sha256_hex(etag_text(changed)));
                AddonVersion& added = changed.versions.emplace_back(version);
                added.version = changed.next_version++;
            });
            return parts_.engine.start(std::move(spec), std::move(batch));
        });
    });
}

Started AddonService::Implementation::remove(std::string_view name, std::string requestor) {
    return retry_on_conflict([&] {
        const auto addon = parts_.addons.get(name);
        if (addon->deleting) throw_deleting();
        if (is_in_use(addon->name, std::nullopt)) throw Error(ErrorCode::busy, "addon is in use");
        auto spec = spec_for("addon.delete", "Deleting addon", {addon->name, 0}, requestor);
        spec.wait_for_claims = true;
        spec.cancellable = false;
        Batch batch;
        parts_.addons.stage_update(batch, addon->name, [](Addon& changed) { changed.deleting = true; });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

Started AddonService::Implementation::remove_version(std::string_view name, int number,
                                                     std::string requestor) {
    return retry_on_conflict([&] {
        const auto addon = parts_.addons.get(name);
        const AddonVersion* const version = addon->version(number);
        if (version == nullptr) throw Error(ErrorCode::not_found, "addon version not found");
        if (addon->deleting || version->deleting) throw_deleting();
        if (std::ranges::count_if(addon->versions, [](const auto& v) { return !v.deleting; }) == 1)
            throw Error(ErrorCode::invalid_argument, "deleting the last version of an addon not allowed");
        if (is_in_use(addon->name, number)) throw Error(ErrorCode::busy, "addon is in use");
        auto spec =
            spec_for("addon.delete_version", "Deleting addon version", {addon->name, number}, requestor);
        spec.wait_for_claims = true;
        spec.cancel_holders = false;
        spec.cancellable = false;
        Batch batch;
        parts_.addons.stage_update(batch, addon->name, [number](Addon& changed) {
            if (AddonVersion* const going = changed.version(number)) going->deleting = true;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

OperationSpec AddonService::Implementation::spec_for(std::string kind, std::string description,
                                                     const Target& target, std::string requestor) const {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["addons"] = {"/1.0/addons/" + target.addon};
    spec.claims = {"addons/" + target.addon};
    spec.cancellable = true;
    spec.arguments = target.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

AddonVersion AddonService::Implementation::new_version(const UploadedPackage& package,
                                                       std::string_view fingerprint) const {
    check_fingerprint(package.info, fingerprint);
    const PackageListing listing = list_package(package.blob->path());
    std::vector<std::string> ignored;
    const AddonManifest manifest = AddonManifest::parse(read_manifest_document(listing), &ignored);
    log_ignored_keys(manifest.name, ignored);
    AddonVersion version;
    version.hooks = read_hooks(listing);
    if (version.hooks.empty()) throw Error(ErrorCode::invalid_argument, "at least one hook is required");
    version.fingerprint = package.info.digest;
    version.size = package.info.size;
    version.created_at = parts_.clock.now();
    version.abi_support = manifest.abi_support;
    version.hook_timeout_seconds = manifest.hook_timeout_seconds();
    version.description = manifest.description;
    return version;
}

Started AddonService::Implementation::start_import(UploadedPackage package,
                                                   const std::function<Started()>& start) {
    Started started;
    parts_.content.keep(std::move(package), [&] { started = start(); });
    return started;
}

// In use is what an application was made with or asks for, what application.addons gives to every
// application, and what an instance is about to fetch.
bool AddonService::Implementation::is_in_use(const std::string& name, std::optional<int> version) const {
    const auto applications = parts_.applications.list();
    const auto instances = parts_.instances.list();
    const auto global = parts_.config.find("application.addons");
    const auto everywhere = global ? split_config_list(global->value) : std::vector<std::string>();
    return (!version && std::ranges::find(everywhere, name) != everywhere.end()) ||
           std::ranges::any_of(applications, [&](const auto& a) { return uses(*a, name, version); }) ||
           std::ranges::any_of(instances, [&](const auto& i) { return fetches(*i, name, version); });
}

std::vector<std::string> AddonService::Implementation::used_by(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& application : parts_.applications.list())
        if (uses(*application, name, std::nullopt)) names.push_back(application->name);
    return names;
}

AddonService::AddonService(AddonServiceParts parts)
    : implementation_(std::make_unique<Implementation>(parts)) {}
AddonService::~AddonService() = default;

void AddonService::check_create(const AddonRequest& request) const {
    implementation_->check_create(request);
}

std::shared_ptr<const Addon> AddonService::check_update(std::string_view name) const {
    return implementation_->check_update(name);
}

Started AddonService::create(const AddonRequest& request, UploadedPackage package,
                             std::string_view fingerprint, std::string requestor) {
    return implementation_->create(request, std::move(package), fingerprint, std::move(requestor));
}

Started AddonService::update(std::string_view name, UploadedPackage package, std::string_view fingerprint,
                             std::string requestor, const Precondition& unchanged) {
    return implementation_->update(name, std::move(package), fingerprint, std::move(requestor), unchanged);
}

Started AddonService::remove(std::string_view name, std::string requestor) {
    return implementation_->remove(name, std::move(requestor));
}

Started AddonService::remove_version(std::string_view name, int version, std::string requestor) {
    return implementation_->remove_version(name, version, std::move(requestor));
}

std::shared_ptr<const Addon> AddonService::get(std::string_view name) const {
    return implementation_->addons().get(name);
}

std::vector<std::shared_ptr<const Addon>> AddonService::list() const {
    return implementation_->addons().list();
}

Json AddonService::describe(const Addon& addon) const {
    return to_json(addon, implementation_->used_by(addon.name));
}

std::string AddonService::etag(const Addon& addon) const {
    return sha256_hex(etag_text(addon));
}

void AddonService::on_new_version(std::function<void(const std::string& addon)> listener) {
    implementation_->new_version_listener = std::move(listener);
}

}  // namespace svc

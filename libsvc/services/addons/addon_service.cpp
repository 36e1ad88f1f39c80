#include "libsvc/services/addons/addon_service.h"

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/model/packages/manifest.h"
#include "libsvc/model/values/names.h"
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

OperationSpec addon_operation(std::string kind, std::string description, const AddonTarget& target,
                              std::string requestor) {
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

}  // namespace

AddonService::AddonService(AddonServiceParts parts)
    : parts_(parts),
      use_(parts.applications, parts.instances, parts.config),
      operations_(parts.addons, use_, parts.content, parts.engine) {
    // An addon that is being deleted counts until its record is gone: the deletion may still be refused.
    parts_.content.add_referrer([&addons = parts.addons](ContentReferences& used) {
        for (const auto& addon : addons.list())
            for (const AddonVersion& version : addon->versions) used.blobs.insert(version.fingerprint);
    });
}

void AddonService::check_create(const AddonRequest& request) const {
    check_addon_name("name", request.name);
    if (parts_.addons.find(request.name)) throw Error(ErrorCode::conflict, "addon already exists");
}

std::shared_ptr<const Addon> AddonService::check_update(std::string_view name) const {
    auto addon = parts_.addons.get(name);
    if (addon->deleting) throw_deleting();
    return addon;
}

Started AddonService::create(const AddonRequest& request, UploadedPackage package,
                             std::string_view fingerprint, std::string requestor) {
    check_create(request);
    Addon addon;
    addon.name = request.name;
    addon.created_at = parts_.clock.now();
    addon.versions.push_back(new_version(package, fingerprint));
    addon.next_version = 1;
    const auto spec = addon_operation("addon.add", "Creating addon", {addon.name, 0}, std::move(requestor));
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

Started AddonService::update(std::string_view name, UploadedPackage package, std::string_view fingerprint,
                             std::string requestor, const Precondition& unchanged) {
    check_changed(*check_update(name), package.info.digest);
    const AddonVersion version = new_version(package, fingerprint);
    return start_import(std::move(package), [&] {
        return retry_on_conflict([&] {
            const auto addon = check_update(name);
            check_changed(*addon, version.fingerprint);
            auto spec = addon_operation("addon.update", "Updating addon", {addon->name, addon->next_version},
                                        requestor);
            spec.wait_for_claims = true;  // behind an update that is in progress, without cancelling it
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

Started AddonService::remove(std::string_view name, std::string requestor) {
    return retry_on_conflict([&] {
        const auto addon = parts_.addons.get(name);
        auto spec = addon_operation("addon.delete", "Deleting addon", {addon->name, 0}, requestor);
        spec.wait_for_claims = true;
        spec.cancellable = false;
        Batch batch;
        parts_.addons.stage_update(batch, addon->name, [this](Addon& changed) {
            if (changed.deleting) throw_deleting();
            if (use_.is_in_use(changed.name, std::nullopt)) throw Error(ErrorCode::busy, "addon is in use");
            changed.deleting = true;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

// Asked of the record that the commit changes: of two deletions at the same moment one sees the other.
void AddonService::check_version_may_go(const Addon& addon, int number) const {
    const AddonVersion* const version = addon.version(number);
    if (version == nullptr) throw Error(ErrorCode::not_found, "addon version not found");
    if (addon.deleting || version->deleting) throw_deleting();
    if (std::ranges::count_if(addon.versions, [](const auto& v) { return !v.deleting; }) == 1)
        throw Error(ErrorCode::invalid_argument, "deleting the last version of an addon not allowed");
    if (use_.is_in_use(addon.name, number)) throw Error(ErrorCode::busy, "addon is in use");
}

Started AddonService::remove_version(std::string_view name, int number, std::string requestor) {
    return retry_on_conflict([&] {
        const auto addon = parts_.addons.get(name);
        auto spec = addon_operation("addon.delete_version", "Deleting addon version", {addon->name, number},
                                    requestor);
        spec.wait_for_claims = true;
        spec.cancel_holders = false;
        spec.cancellable = false;
        Batch batch;
        parts_.addons.stage_update(batch, addon->name, [this, number](Addon& changed) {
            check_version_may_go(changed, number);
            changed.version(number)->deleting = true;
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

AddonVersion AddonService::new_version(const UploadedPackage& package, std::string_view fingerprint) const {
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

Started AddonService::start_import(UploadedPackage package, const std::function<Started()>& start) {
    Started started;
    parts_.content.keep(std::move(package), [&] { started = start(); });
    return started;
}

Json AddonService::describe(const Addon& addon) const {
    return to_json(addon, use_.used_by(addon.name));
}

std::string AddonService::etag(const Addon& addon) const {
    return sha256_hex(etag_text(addon));
}

}  // namespace svc

// What a new version stands on, and when one is due.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/applications/application_implementation.h"

namespace svc {

namespace {

constexpr const char* own_requestor = "service";

void log_update(const Started& started, const std::string& application) {
    const Json& version = started->arguments.at("version");
    log::info("application updated by itself",
              {{"application", application}, {"version", std::to_string(version.as_int())}});
}

std::vector<const PackageRef*> addons_of(const ApplicationVersion& version) {
    std::vector<const PackageRef*> addons;
    for (const PackageRef& package : version.packages)
        if (!package.is_application) addons.push_back(&package);
    return addons;
}

}  // namespace

bool ApplicationService::Implementation::operation_exists(const std::string& id) const {
    try {
        parts_.engine.get(id);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return false;
    }
}

OperationResult ApplicationService::Implementation::run_update(OperationContext& context) {
    const Target target = Target::of(context.operation());
    if (target.version != Target::no_version) start_bootstrap(target, context.operation().requestor);
    return {};
}

OperationResult ApplicationService::Implementation::undo_create(const Operation& operation) {
    const Target target = Target::of(operation);
    const Ptr application = parts_.applications.find(target.application);
    if (!application || operation_exists(target.bootstrap)) return {};
    OperationResult result;
    result.stage = [this, target](Batch& last) {
        parts_.applications.stage_remove(last, target.application);
    };
    result.after = [this, content = content_of(*application, version_of(*application, target.version))] {
        drop(content);
    };
    return result;
}

OperationResult ApplicationService::Implementation::undo_update(const Operation& operation) {
    const Target target = Target::of(operation);
    const Ptr application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || operation_exists(target.bootstrap)) return {};
    return erase_version(target);
}

void ApplicationService::Implementation::choose_image(Application& application,
                                                      const std::string& reference) const {
    const auto image = reference.empty() ? parts_.images.default_image() : parts_.images.get(reference);
    if (!image) throw Error(ErrorCode::not_found, "image not found");
    if (image->deleting || image->newest_active() == nullptr)
        throw Error(ErrorCode::invalid_argument, "image " + image->name + " is not active");
    application.image = reference;
    application.parent_image_id = image->id.str();
}

void ApplicationService::Implementation::check_addons(const std::vector<std::string>& addons) const {
    for (const std::string& name : addons) {
        const auto addon = parts_.addons.get(name);
        if (addon->deleting || addon->newest() == nullptr)
            throw Error(ErrorCode::not_found, "addon not found");
    }
}

void ApplicationService::Implementation::choose_abi(Application& application,
                                                    const ApplicationManifest& manifest,
                                                    const Foundation& foundation) const {
    const std::string& architecture =
        foundation.architecture.empty() ? parts_.architecture : *foundation.architecture;
    const std::string wanted =
        manifest.abi.empty() ? parts_.config.text("application.default_abi") : manifest.abi;
    if (!wanted.empty() && !runs_abi(architecture, foundation.abi_support, wanted))
        throw Error(ErrorCode::invalid_argument, "abi " + wanted + " not supported: machines are " +
                                                     architecture + " and no addon provides it");
    application.abi = wanted.empty() ? native_abi(architecture) : wanted;
}

// Those of the configuration first, each once.
std::vector<std::string> ApplicationService::Implementation::wanted_addons(
    const Application& application) const {
    std::vector<std::string> names;
    const auto add = [&names](const std::vector<std::string>& more) {
        for (const std::string& name : more)
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    add(parts_.config.values().list("application.addons"));
    add(application.addons);
    return names;
}

void ApplicationService::Implementation::add_addons(const Application& application,
                                                    Foundation& foundation) const {
    for (const std::string& name : wanted_addons(application)) {
        const auto addon = parts_.addons.get(name);
        const AddonVersion* const version = addon->newest();
        if (addon->deleting || version == nullptr) throw Error(ErrorCode::not_found, "addon not found");
        foundation.addons.push_back(addon->package(*version, false));
        foundation.abi_support.insert(foundation.abi_support.end(), version->abi_support.begin(),
                                      version->abi_support.end());
    }
}

ApplicationService::Implementation::Foundation ApplicationService::Implementation::foundation_of(
    const ApplicationVersion& version) {
    Foundation foundation{version};
    for (const PackageRef* const addon : addons_of(version)) foundation.addons.push_back(*addon);
    return foundation;
}

// Without `image_required`: when the image is gone, its layer, which the newest version holds, will do.
ApplicationService::Implementation::Foundation ApplicationService::Implementation::newest_foundation(
    const Application& application, bool image_required) const {
    Foundation foundation;
    const auto images = parts_.images.list();
    const auto image = std::ranges::find_if(
        images, [&](const auto& candidate) { return candidate->id.str() == application.parent_image_id; });
    const ImageVersion* const version =
        image == images.end() || (*image)->deleting ? nullptr : (*image)->newest_active();
    if (version != nullptr) {
        foundation = {{{version->metadata}, application.parent_image_id, version->version, version->layer()},
                      {},
                      {},
                      version->root_size};
    } else if (image_required || application.newest() == nullptr) {
        throw Error(ErrorCode::not_found, "image not found");
    } else {
        foundation = foundation_of(newest_of(application));
        foundation.addons.clear();
    }
    add_addons(application, foundation);
    return foundation;
}

bool ApplicationService::Implementation::is_behind(const ApplicationVersion& version,
                                                   const Foundation& foundation) {
    if (foundation.parent_image_id != version.parent_image_id ||
        foundation.parent_image_version > version.parent_image_version)
        return true;
    const auto used = addons_of(version);
    return !std::ranges::equal(used, foundation.addons, [](const PackageRef* one, const PackageRef& now) {
        return one->name == now.name && one->version >= now.version;
    });
}

ApplicationVersion& ApplicationService::Implementation::add_version(Application& application,
                                                                    const Foundation& foundation,
                                                                    ApplicationManifest manifest) const {
    ApplicationVersion version;
    version.number = application.next_version++;
    version.created_at = parts_.clock.now();
    static_cast<ParentImage&>(version) = foundation;
    version.packages = foundation.addons;
    version.manifest = std::move(manifest);
    application.pending_update = false;
    application.versions.push_back(std::move(version));
    return application.versions.back();
}

void ApplicationService::Implementation::set_package(ApplicationVersion& version, const std::string& name,
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

// The newest version's package once more, on another foundation or with another manifest.
ApplicationService::Implementation::Target ApplicationService::Implementation::repeat_version(
    Application& application, const Foundation& foundation, ApplicationManifest manifest) const {
    const ApplicationVersion before = newest_of(application);
    const PackageRef* const own = own_package(before);
    ApplicationVersion& version = add_version(application, foundation, std::move(manifest));
    set_package(version, application.name, before.package, before.package_size,
                own == nullptr ? std::vector<std::string>() : own->hooks);
    return {application.id.str(), version.number, parts_.ids.uuid()};
}

bool ApplicationService::Implementation::may_update_itself(const Application& application) const {
    return !application.inhibit_auto_updates && !application.immutable && !application.deleting &&
           parts_.config.boolean("application.auto_update");
}

void ApplicationService::Implementation::image_changed(const std::string& image_id) {
    update_where(
        [image_id](const Application& application) { return application.parent_image_id == image_id; });
}

void ApplicationService::Implementation::addon_changed(const std::string& addon) {
    update_where([this, addon](const Application& application) {
        const auto wanted = wanted_addons(application);
        return std::ranges::find(wanted, addon) != wanted.end();
    });
}

void ApplicationService::Implementation::global_addons_changed() {
    update_where([](const Application&) { return true; });
}

void ApplicationService::Implementation::update_where(
    const std::function<bool(const Application&)>& depends) {
    post([this, depends] {
        for (const Ptr& application : parts_.applications.list())
            if (application->pending_update || depends(*application)) update_if_behind(application->id.str());
    });
}

void ApplicationService::Implementation::update_if_behind(const std::string& id) {
    try {
        while (!try_update_if_behind(id)) continue;
    } catch (const Error& e) {
        log::warning("application cannot be updated by itself", {{"application", id}, {"error", e.what()}});
    }
}

// False: the record has changed meanwhile.
bool ApplicationService::Implementation::try_update_if_behind(const std::string& id) {
    const Ptr application = parts_.applications.find(id);
    if (!application || !may_update_itself(*application)) return true;
    if (!is_behind(newest_of(*application), newest_foundation(*application, false))) return true;
    if (is_initializing(*application)) {
        const Ptr now = parts_.applications.update(
            id, [](Application& record) { record.pending_update = is_initializing(record); });
        return now->pending_update;
    }
    try {
        LayerHold hold(parts_.content);
        const auto edit = [this](Application& record) { return take_newest(record); };
        log_update(start_update("application.update", id, id, edit, own_requestor, hold), id);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::busy) throw;
        return false;
    }
}

ApplicationService::Implementation::Target ApplicationService::Implementation::take_newest(
    Application& application) const {
    const Foundation foundation = newest_foundation(application, false);
    if (is_initializing(application) || !is_behind(newest_of(application), foundation))
        throw Error(ErrorCode::busy, "update already in progress");  // another trigger was faster
    return repeat_version(application, foundation, newest_of(application).manifest);
}

void ApplicationService::Implementation::take_up_pending(const std::string& id) {
    const Ptr before = parts_.applications.find(id);
    if (!before || !before->pending_update || before->deleting || is_initializing(*before)) return;
    update_if_behind(id);
    const Ptr now = parts_.applications.find(id);
    if (!now || !now->pending_update) return;
    parts_.applications.update(  // it was not behind, or must not update itself any more
        id, [](Application& record) { record.pending_update &= is_initializing(record); });
}

bool ApplicationService::Implementation::image_is_gone(const Application& application) const {
    const auto images = parts_.images.list();
    return std::ranges::none_of(
        images, [&](const auto& image) { return image->id.str() == application.parent_image_id; });
}

}  // namespace svc

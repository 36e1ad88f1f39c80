// What the operations of addons do.
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/addons/addon_implementation.h"

namespace svc {

Json AddonService::Implementation::Target::to_json() const {
    return Json::object({{"addon", addon}, {"version", version}});
}

AddonService::Implementation::Target AddonService::Implementation::Target::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("addon"), static_cast<int>(fields.require_int("version"))};
}

void AddonService::Implementation::register_kinds() {
    using Step = OperationResult (Implementation::*)(const Target&);
    const auto handle = [this](const char* kind, auto run, Step undo) {
        OperationHandler handler;
        handler.run = [this, run](OperationContext& c) { return (this->*run)(Target::of(c.operation())); };
        handler.undo = [this, undo](const Operation& o, const Error&) {
            return (this->*undo)(Target::of(o));
        };
        handler.resumable = true;
        parts_.engine.handle(kind, std::move(handler));
    };
    handle("addon.add", &Implementation::tell_of, &Implementation::undo_create);
    handle("addon.update", &Implementation::tell_of, &Implementation::undo_update);
    handle("addon.delete", &Implementation::erase, &Implementation::restore);
    handle("addon.delete_version", &Implementation::erase_version, &Implementation::restore_version);
}

// What is being deleted counts until its record is gone: the deletion may still be refused.
void AddonService::Implementation::add_references(ContentReferences& used) const {
    for (const auto& addon : parts_.addons.list())
        for (const AddonVersion& version : addon->versions) used.blobs.insert(version.fingerprint);
}

// The record was there before the operation began.
OperationResult AddonService::Implementation::tell_of(const Target& target) const {
    OperationResult result;
    result.after = [this, target] {
        log::info("addon version active",
                  {{"addon", target.addon}, {"version", std::to_string(target.version)}});
        if (new_version_listener) new_version_listener(target.addon);
    };
    return result;
}

OperationResult AddonService::Implementation::undo_create(const Target& target) {
    OperationResult result;
    const auto addon = parts_.addons.find(target.addon);
    if (!addon || addon->deleting) return result;  // its deletion does the rest
    result.stage = [this, name = target.addon](Batch& last) { parts_.addons.stage_remove(last, name); };
    result.after = [this, fingerprint = addon->versions.at(0).fingerprint] {
        parts_.content.drop({fingerprint}, {});
    };
    return result;
}

OperationResult AddonService::Implementation::undo_update(const Target& target) {
    OperationResult result;
    const auto addon = parts_.addons.find(target.addon);
    const AddonVersion* const version = addon ? addon->version(target.version) : nullptr;
    if (version == nullptr) return result;
    result.stage = [this, target](Batch& last) {
        if (!parts_.addons.find(target.addon)) return;
        parts_.addons.stage_update(last, target.addon, [&](Addon& changed) {
            std::erase_if(changed.versions,
                          [&](const AddonVersion& v) { return v.version == target.version; });
        });
    };
    result.after = [this, fingerprint = version->fingerprint] { parts_.content.drop({fingerprint}, {}); };
    return result;
}

// An application that began to use it between the request and its mark is served first.
OperationResult AddonService::Implementation::erase(const Target& target) {
    const auto addon = parts_.addons.find(target.addon);
    if (!addon) return {};
    if (is_in_use(target.addon, std::nullopt)) throw Error(ErrorCode::busy, "addon is in use");
    std::vector<std::string> fingerprints;
    for (const AddonVersion& version : addon->versions) fingerprints.push_back(version.fingerprint);
    OperationResult result;
    result.stage = [this, name = target.addon](Batch& last) { parts_.addons.stage_remove(last, name); };
    result.after = [this, fingerprints, name = target.addon] {
        log::info("addon deleted", {{"addon", name}});
        parts_.content.drop(fingerprints, {});
    };
    return result;
}

OperationResult AddonService::Implementation::erase_version(const Target& target) {
    if (is_in_use(target.addon, target.version)) throw Error(ErrorCode::busy, "addon is in use");
    return undo_update(target);
}

OperationResult AddonService::Implementation::restore(const Target& target) {
    OperationResult result;
    result.stage = [this, name = target.addon](Batch& last) {
        if (parts_.addons.find(name))
            parts_.addons.stage_update(last, name, [](Addon& changed) { changed.deleting = false; });
    };
    return result;
}

OperationResult AddonService::Implementation::restore_version(const Target& target) {
    OperationResult result;
    result.stage = [this, target](Batch& last) {
        if (!parts_.addons.find(target.addon)) return;
        parts_.addons.stage_update(last, target.addon, [&](Addon& changed) {
            if (AddonVersion* const version = changed.version(target.version)) version->deleting = false;
        });
    };
    return result;
}

}  // namespace svc

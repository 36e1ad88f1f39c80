#include "libsvc/services/addons/addon_operations.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

Json AddonTarget::to_json() const {
    return Json::object({{"addon", addon}, {"version", version}});
}

AddonTarget AddonTarget::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("addon"), static_cast<int>(fields.require_int("version"))};
}

AddonOperations::AddonOperations(Addons& addons, const AddonUse& use, Content& content, Engine& engine)
    : addons_(addons), use_(use), content_(content), engine_(engine) {
    register_kinds();
}

void AddonOperations::register_kinds() {
    using Step = OperationResult (AddonOperations::*)(const AddonTarget&);
    const auto handle = [this](const char* kind, auto run, Step undo) {
        OperationHandler handler;
        handler.run = [this, run](OperationContext& c) {
            return (this->*run)(AddonTarget::of(c.operation()));
        };
        handler.undo = [this, undo](const Operation& o, const Error&) {
            return (this->*undo)(AddonTarget::of(o));
        };
        handler.resumable = true;
        engine_.handle(kind, std::move(handler));
    };
    handle("addon.add", &AddonOperations::announce, &AddonOperations::undo_create);
    handle("addon.update", &AddonOperations::announce, &AddonOperations::undo_update);
    handle("addon.delete", &AddonOperations::erase, &AddonOperations::restore);
    handle("addon.delete_version", &AddonOperations::erase_version, &AddonOperations::restore_version);
}

// The record is committed with the start of the operation.
OperationResult AddonOperations::announce(const AddonTarget& target) {
    OperationResult result;
    result.after = [this, target] {
        log::info("addon version active",
                  {{"addon", target.addon}, {"version", std::to_string(target.version)}});
        if (listener_) listener_(target.addon);
    };
    return result;
}

OperationResult AddonOperations::undo_create(const AddonTarget& target) {
    OperationResult result;
    const auto addon = addons_.find(target.addon);
    if (!addon || addon->deleting) return result;  // its deletion removes the record
    result.stage = [this, name = target.addon](Batch& last) { addons_.stage_remove(last, name); };
    result.after = [this, fingerprint = addon->versions.at(0).fingerprint] {
        content_.drop({fingerprint}, {});
    };
    return result;
}

OperationResult AddonOperations::undo_update(const AddonTarget& target) {
    OperationResult result;
    const auto addon = addons_.find(target.addon);
    const AddonVersion* const version = addon ? addon->version(target.version) : nullptr;
    if (version == nullptr) return result;
    result.stage = [this, target](Batch& last) {
        if (!addons_.find(target.addon)) return;
        addons_.stage_update(last, target.addon, [&](Addon& changed) {
            std::erase_if(changed.versions,
                          [&](const AddonVersion& v) { return v.version == target.version; });
        });
    };
    result.after = [this, fingerprint = version->fingerprint] { content_.drop({fingerprint}, {}); };
    return result;
}

// Checked again: an application may have begun to use the addon before the request marked it.
OperationResult AddonOperations::erase(const AddonTarget& target) {
    const auto addon = addons_.find(target.addon);
    if (!addon) return {};
    if (use_.is_in_use(target.addon, std::nullopt)) throw Error(ErrorCode::busy, "addon is in use");
    std::vector<std::string> fingerprints;
    for (const AddonVersion& version : addon->versions) fingerprints.push_back(version.fingerprint);
    OperationResult result;
    result.stage = [this, name = target.addon](Batch& last) { addons_.stage_remove(last, name); };
    result.after = [this, fingerprints, name = target.addon] {
        log::info("addon deleted", {{"addon", name}});
        content_.drop(fingerprints, {});
    };
    return result;
}

// Checked again, too: the other version, which the request counted on, may have gone with a cancelled update.
// Updates that the request saw have ended by now, since they claimed the addon before it.
OperationResult AddonOperations::erase_version(const AddonTarget& target) {
    const auto addon = addons_.find(target.addon);
    if (addon && addon->versions.size() == 1 && addon->version(target.version) != nullptr)
        throw Error(ErrorCode::invalid_argument, "deleting the last version of an addon not allowed");
    if (use_.is_in_use(target.addon, target.version)) throw Error(ErrorCode::busy, "addon is in use");
    return undo_update(target);
}

OperationResult AddonOperations::restore(const AddonTarget& target) {
    OperationResult result;
    result.stage = [this, name = target.addon](Batch& last) {
        if (addons_.find(name))
            addons_.stage_update(last, name, [](Addon& changed) { changed.deleting = false; });
    };
    return result;
}

OperationResult AddonOperations::restore_version(const AddonTarget& target) {
    OperationResult result;
    result.stage = [this, target](Batch& last) {
        if (!addons_.find(target.addon)) return;
        addons_.stage_update(last, target.addon, [&](Addon& changed) {
            if (AddonVersion* const version = changed.version(target.version)) version->deleting = false;
        });
    };
    return result;
}

}  // namespace svc

// Containers that bootstrap an application. They go through the same operations as all others; what differs
// is how they fail (only record and logs stay) and that nobody but their bootstrap stops them.
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/services/instances/instance_implementation.h"
#include "libsvc/services/instances/launch_source.h"

namespace svc {

namespace {

constexpr Duration removal_pause = std::chrono::seconds(10);

}  // namespace

Instance InstanceService::Implementation::base_instance(const BaseLaunch& launch) const {
    Instance instance;
    static_cast<GuestDescription&>(instance) = launch;
    instance.id = launch.id;
    instance.type = InstanceType::base;
    instance.features = merged_features({parts_.config.values().list("container.features"), launch.features});
    InstanceConfig config;
    config.platform = "null";
    config.boot_package = launch.app->boot_package;
    config.boot_activity = launch.app->boot_activity;
    instance.config = std::move(config);
    give_identity(instance);
    return instance;
}

void InstanceService::Implementation::launch_base(const BaseLaunch& launch) {
    const std::string id = launch.id.str();
    if (parts_.instances.find(id)) return;
    parts_.content.hold_layers(launch.layers);
    Rollback undo;
    undo.add("holding layers", [&] { parts_.content.drop_layers(launch.layers); });
    const Instance instance = base_instance(launch);
    auto spec = spec_for("instance.launch", "Creating container", {.instance = id}, PathWord::containers,
                         launch.requestor);
    try {
        start_launch(instance, std::move(spec), {});
    } catch (const Error& e) {
        // Somebody else was asked for the same at the same moment.
        if (e.code() == ErrorCode::conflict && parts_.instances.find(id)) return;
        throw;
    }
    undo.dismiss();
}

// Queued behind whatever goes on with the container, its launch above all: so it holds no worker until there
// is something to stop. What it finds then is what there is to tell.
void InstanceService::Implementation::finish_base(const std::string& id,
                                                  std::function<void(const std::optional<Error>&)> done) {
    const auto instance = parts_.instances.find(id);
    const bool is_over = !instance || instance->status == InstanceStatus::stopped ||
                         instance->status == InstanceStatus::error ||
                         instance->status == InstanceStatus::deleted;
    if (is_over) return tell_finished(id, done);
    auto spec =
        spec_for("instance.stop", "Updating container", {.instance = id}, PathWord::containers, "service");
    spec.wait_for_claims = true;
    spec.cancel_holders = false;
    const Started stop = parts_.engine.start(std::move(spec), {});
    parts_.engine.when_final(
        stop->id.str(), std::nullopt, [this, id, done = std::move(done)](const Started& last) {
            if (is_final(last->status))
                tell_finished(id, done);  // else the daemon stops, and asks again in its next life
        });
}

void InstanceService::Implementation::tell_finished(
    const std::string& id, const std::function<void(const std::optional<Error>&)>& done) const {
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted)
        return done(Error(ErrorCode::cancelled, "container was deleted"));
    if (instance->status == InstanceStatus::stopped) return done(std::nullopt);
    done(Error(ErrorCode::internal,
               instance->error_message.empty() ? "container could not be stopped" : instance->error_message));
}

void InstanceService::Implementation::remove_base(const std::string& id, std::function<void()> done) {
    if (!parts_.instances.find(id)) return done();
    Started deletion;
    try {
        deletion = start_deletion({.instance = id, .force = true}, PathWord::containers, "service", true);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) return done();
        throw;
    }
    parts_.engine.when_final(deletion->id.str(), std::nullopt, [this, id, done](const Started& last) {
        if (!is_final(last->status)) return;
        if (!parts_.instances.find(id)) return done();
        log::warning("base container cannot be removed, tried again later",
                     {{"container", id}, {"error", last->err}});
        timer_.after(removal_pause, [this, id, done] { remove_base(id, done); });
    });
}

}  // namespace svc

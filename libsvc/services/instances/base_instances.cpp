#include "libsvc/services/instances/base_instances.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/services/instances/launch/launch_source.h"

namespace svc {

namespace {

constexpr Duration removal_pause = std::chrono::seconds(10);

bool is_over(const Instance& instance) {
    return instance.status == InstanceStatus::stopped || instance.status == InstanceStatus::error ||
           instance.status == InstanceStatus::deleted;
}

}  // namespace

BaseInstances::BaseInstances(Instances& instances, Content& content, const ConfigService& config,
                             Engine& engine, Timer& timer, NewInstances& launches,
                             InstanceDeletions& deletions)
    : instances_(instances),
      content_(content),
      config_(config),
      engine_(engine),
      timer_(timer),
      launches_(launches),
      deletions_(deletions) {}

Instance BaseInstances::record_of(const BaseLaunch& launch) const {
    Instance instance;
    static_cast<GuestDescription&>(instance) = launch;
    instance.id = launch.id;
    instance.type = InstanceType::base;
    instance.features = merged_features({config_.values().list("container.features"), launch.features});
    InstanceConfig config;
    config.platform = "null";
    config.boot_package = launch.app->boot_package;
    config.boot_activity = launch.app->boot_activity;
    instance.config = std::move(config);
    launches_.give_identity(instance);
    return instance;
}

void BaseInstances::launch(const BaseLaunch& launch) {
    const std::string id = launch.id.str();
    if (instances_.find(id)) return;
    content_.hold_layers(launch.layers);
    Rollback undo;
    undo.add("holding layers", [&] { content_.drop_layers(launch.layers); });
    auto spec = instance_operation("instance.launch", "Creating container", {.instance = id},
                                   PathWord::containers, launch.requestor);
    try {
        launches_.launch(record_of(launch), std::move(spec), {});
    } catch (const Error& e) {
        // Another thread was asked for the same container at the same moment.
        if (e.code() == ErrorCode::conflict && instances_.find(id)) return;
        throw;
    }
    undo.dismiss();
}

// The stop is queued behind the operation that holds the container, its launch above all, so it holds no
// worker until there is something to stop. The record that it leaves is what is told.
void BaseInstances::finish(const InstanceId& id, Finished done) {
    const std::string name = id.str();
    const auto instance = instances_.find(name);
    if (!instance || is_over(*instance)) return tell_finished(name, done);
    auto spec = instance_operation("instance.stop", "Updating container", {.instance = name},
                                   PathWord::containers, "service");
    spec.wait_for_claims = true;
    spec.cancel_holders = false;
    const Started stop = engine_.start(std::move(spec), {});
    engine_.when_final(
        stop->id.str(), std::nullopt, [this, name, done = std::move(done)](const Started& last) {
            if (is_final(last->status))
                tell_finished(name, done);  // else the daemon stops, and asks again in its next life
        });
}

void BaseInstances::tell_finished(const std::string& id, const Finished& done) const {
    const auto instance = instances_.find(id);
    if (!instance || instance->status == InstanceStatus::deleted)
        return done(Error(ErrorCode::cancelled, "container was deleted"));
    if (instance->status == InstanceStatus::stopped) return done(std::nullopt);
    done(Error(ErrorCode::internal,
               instance->error_message.empty() ? "container could not be stopped" : instance->error_message));
}

void BaseInstances::remove(const InstanceId& id, std::function<void()> done) {
    const std::string name = id.str();
    if (!instances_.find(name)) return done();
    Started deletion;
    try {
        deletion = deletions_.start({.instance = name, .force = true}, PathWord::containers, "service", true);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) return done();
        throw;
    }
    engine_.when_final(deletion->id.str(), std::nullopt, [this, id, done](const Started& last) {
        if (!is_final(last->status)) return;
        if (!instances_.find(id.str())) return done();
        log::warning("base container cannot be removed, tried again later",
                     {{"container", id.str()}, {"error", last->err}});
        timer_.after(removal_pause, [this, id, done] { remove(id, done); });
    });
}

}  // namespace svc

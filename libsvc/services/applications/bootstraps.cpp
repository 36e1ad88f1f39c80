#include "libsvc/services/applications/bootstraps.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/agent_paths.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/applications/base_container.h"

namespace svc {

namespace {

constexpr int timed_out_inside = 5;  // of the error codes an agent reports

}  // namespace

Bootstraps::Bootstraps(BootstrapsParts parts)
    : parts_(parts),
      versions_(parts.applications, parts.ids),
      queue_(parts.at_once),
      timer_(parts.clock, "bootstrap-timer") {
    handle_resumable(
        parts_.engine, "application.bootstrap", [this](OperationContext& context) { return run(context); },
        [this](const Operation& operation, const Error& error) { return undo(operation, error); });
}

// Called again when the operation that made the version is resumed after a crash.
void Bootstraps::start(const ApplicationTarget& target, const std::string& requestor) {
    const auto application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || application->deleting || version->status != ImageStatus::initializing) return;
    if (operation_exists(parts_.engine, target.bootstrap)) return;
    auto spec = application_operation("application.bootstrap", "Bootstrapping application",
                                      target.application, target, requestor);
    spec.id = target.bootstrap;
    spec.claims = {version_claim(target.application, target.version)};
    spec.cancellable = true;
    try {
        parts_.engine.start(std::move(spec), {});
    } catch (const Error& e) {
        if (e.code() != ErrorCode::busy) throw;  // a deletion holds the claim and removes the version
    }
}

OperationResult Bootstraps::run(OperationContext& context) {
    const std::string id = context.operation().id.str();
    const auto bootstrap = std::make_shared<Bootstrap>();
    bootstrap->target = ApplicationTarget::of(context.operation());
    bootstrap->operation = id;
    bootstrap->requestor = context.operation().requestor;
    bootstrap->completion = context.detach([this, id] { cancel(id, bootstrap_cancelled()); });
    bootstraps_.with([&](auto& all) { all.insert_or_assign(id, bootstrap); });
    if (context.stop().stop_requested())
        cancel(id, bootstrap_cancelled());  // it had not been in the table yet
    queue_.enter(id, bootstrap->target.application, [this, bootstrap] {
        parts_.jobs.post([this, bootstrap] { do_step(bootstrap, [&] { begin(bootstrap); }); });
    });
    return {};
}

void Bootstraps::cancel(const std::string& operation, const Error& reason) {
    const BootstrapPtr bootstrap = bootstraps_.with([&](const auto& all) {
        const auto found = all.find(operation);
        return found == all.end() ? nullptr : found->second;
    });
    if (bootstrap) bootstrap->completion->fail(reason);
}

void Bootstraps::do_step(const BootstrapPtr& bootstrap, const std::function<void()>& step) {
    std::lock_guard lock(bootstrap->step);
    if (bootstrap->over) return;
    try {
        step();
    } catch (const Error& e) {
        bootstrap->completion->fail(e);
    } catch (const std::exception& e) {
        bootstrap->completion->fail(Error(ErrorCode::internal, e.what()));
    }
}

// Continues after the last step that the record shows, which an earlier process may have done.
void Bootstraps::begin(const BootstrapPtr& bootstrap) {
    const ApplicationTarget& target = bootstrap->target;
    const auto application = parts_.applications.get(target.application);
    const ApplicationVersion& version = version_of(*application, target.version);
    switch (version.status) {
        case ImageStatus::initializing:
            return launch(bootstrap, *application);
        case ImageStatus::active:
            return remove_base(bootstrap, version.base_instance);
        case ImageStatus::error:
            throw Error(ErrorCode::internal, version.error_message);
        case ImageStatus::unknown:
        case ImageStatus::created:
        case ImageStatus::deleted:
        case ImageStatus::available:
        case ImageStatus::queued:
            break;
    }
    throw bootstrap_cancelled();
}

void Bootstraps::launch(const BootstrapPtr& bootstrap, const Application& before) {
    const ApplicationTarget& target = bootstrap->target;
    const bool resumed = !version_of(before, target.version).base_instance.empty();
    const std::string base = versions_.choose_base(target);
    const auto application = parts_.applications.get(target.application);
    BaseLaunch wanted = base_launch_of(*application, version_of(*application, target.version));
    wanted.requestor = bootstrap->requestor;
    parts_.instances.base().launch(wanted);
    failpoint("bootstrap.launched");
    auto fields = version_fields(target);
    fields.emplace_back("container", base);
    log::info(resumed ? "bootstrap continued" : "bootstrap started", fields);
    await_guest(bootstrap, base);
    set_deadline(bootstrap, base);
}

void Bootstraps::set_deadline(const BootstrapPtr& bootstrap, const std::string& base) {
    const Duration limit = parts_.limit;
    const auto spent = parts_.instances.since_start(*parts_.instances.records().get(base));
    const Duration left = limit - spent.value_or(Duration::zero());
    const Error late(ErrorCode::internal, "bootstrap did not end within " + format_duration(limit));
    bootstrap->deadline =
        timer_.after(std::max(left, Duration::zero()),
                     [this, operation = bootstrap->operation, late] { cancel(operation, late); });
}

void Bootstraps::await_guest(const BootstrapPtr& bootstrap, const std::string& base) {
    const auto done = [this, post = parts_.jobs.post_function(), bootstrap,
                       base](const std::optional<Error>& failure) {
        if (failure) return bootstrap->completion->fail(*failure);
        post([this, bootstrap, base] { guest_ended(bootstrap, base); });
    };
    parts_.instances.base().finish(InstanceId(base), done);
}

void Bootstraps::guest_ended(const BootstrapPtr& bootstrap, const std::string& base) {
    do_step(bootstrap, [&] {
        const ApplicationTarget& target = bootstrap->target;
        versions_.activate(target, capture(target, base));
        failpoint("bootstrap.activated");
        remove_base(bootstrap, base);
    });
}

BootstrappedLayer Bootstraps::capture(const ApplicationTarget& target, const std::string& base) {
    LayerStore& layers = parts_.content.layers();
    BootstrappedLayer layer;
    layer.name = layer_name(target.application, target.version);
    layers.capture(layer.name, base, agent_state_paths());
    failpoint("bootstrap.captured");
    layer.bytes = layers.size(layer.name);
    layer.notes = parts_.instances.records().get(base)->notes;
    layer.publish = parts_.config.boolean("application.auto_publish");
    return layer;
}

void Bootstraps::remove_base(const BootstrapPtr& bootstrap, const std::string& base) {
    if (base.empty()) return base_removed(bootstrap);
    const auto done = [this, post = parts_.jobs.post_function(), bootstrap] {
        post([this, bootstrap] { do_step(bootstrap, [&] { base_removed(bootstrap); }); });
    };
    parts_.instances.base().remove(InstanceId(base), done);
}

void Bootstraps::base_removed(const BootstrapPtr& bootstrap) {
    versions_.forget_base(bootstrap->target);
    failpoint("bootstrap.base_forgotten");
    bootstrap->completion->succeed([this, bootstrap] { return conclude(bootstrap); });
}

OperationResult Bootstraps::conclude(const BootstrapPtr& bootstrap) {
    const std::string& id = bootstrap->target.application;
    if (active_) active_(id);
    if (ended_) ended_(id);
    OperationResult result;
    result.after = [this, operation = bootstrap->operation] { forget(operation); };
    return result;
}

// Waits for the step that runs; no step follows it.
void Bootstraps::forget(const std::string& operation) {
    const BootstrapPtr bootstrap = bootstraps_.with([&](auto& all) {
        auto node = all.extract(operation);
        return node.empty() ? nullptr : node.mapped();
    });
    if (bootstrap) {
        std::lock_guard lock(bootstrap->step);
        bootstrap->over = true;
        if (bootstrap->deadline != 0) timer_.cancel(bootstrap->deadline);
    }
    queue_.leave(operation);
}

OperationResult Bootstraps::undo(const Operation& operation, const Error& error) {
    const ApplicationTarget target = ApplicationTarget::of(operation);
    forget(operation.id.str());
    fail_version(target, error.what());
    if (ended_) ended_(target.application);
    return {};
}

// A deletion removes the base container of a version that it deletes.
void Bootstraps::fail_version(const ApplicationTarget& target, const std::string& reason) {
    if (!versions_.is_there(target))
        return parts_.content.drop({}, {layer_name(target.application, target.version)});
    const std::string base = versions_.fail(target, reason);
    if (!base.empty()) fail_base(base, reason);
}

// The container keeps its record and logs for whoever looks for the cause. It is removed if its guest ends
// well after all.
void Bootstraps::fail_base(const std::string& base, const std::string& reason) {
    const InstanceId id(base);
    try {
        parts_.instances.reports().take(base, base, {"error", timed_out_inside, reason, {}},
                                        [](const std::optional<Error>&) {});  // finish() waits for the end
    } catch (const Error& e) {
        log::debug("base container did not take its failure", {{"container", base}, {"error", e.what()}});
        if (e.code() == ErrorCode::not_found) return;
    }
    const auto done = [&instances = parts_.instances, post = parts_.jobs.post_function(),
                       id](const std::optional<Error>& failure) {
        if (failure) return;
        post([&instances, id] { instances.base().remove(id, [] {}); });
    };
    parts_.instances.base().finish(id, done);
}

}  // namespace svc

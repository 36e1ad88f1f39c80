// Making a version: a base container is launched from its parent layer, the guest inside installs, what it
// changed becomes the version's layer. Every step can be repeated; see docs/applications.md.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/applications/application_implementation.h"

namespace svc {

namespace {

// What the agent keeps for itself; every instance gets its own.
const std::vector<std::string> agent_state = {
    "var/lib/svc-agent/session.json",
    "var/lib/svc-agent/userdata",
    "var/lib/svc-agent/progress.json",
    "var/lib/svc-agent/bin",
    "var/lib/svc-agent/host",
    "var/lib/svc-agent/logs",
    "var/lib/svc-agent/downloads",
    "var/lib/svc-agent/fetched",
    "var/lib/svc-agent/state",
    "var/lib/svc-agent/traces",
    "run/svc",
    "run/user/1000/svc-agent",
};

constexpr int timed_out_inside = 5;  // of the error codes an agent reports

Error cancelled() {
    return Error(ErrorCode::cancelled, "Operation cancelled");
}

Json extra_data_json(const std::map<std::string, ExtraData>& extra_data) {
    Json all = Json::object();
    for (const auto& [name, data] : extra_data)
        all.set(name,
                Json::object(
                    {{"target", data.target}, {"owner", data.owner}, {"permissions", data.permissions}}));
    return all;
}

AppSetup setup_of(const Application& application, const ApplicationManifest& manifest) {
    AppSetup app;
    app.name = application.name;
    app.boot_package = manifest.boot_package;
    app.boot_activity = manifest.boot_activity;
    app.required_permissions = manifest.required_permissions;
    app.extra_data = extra_data_json(manifest.extra_data);
    app.keep = manifest.keep;
    app.watchdog_disabled = manifest.watchdog.disabled;
    app.watchdog_allowed_packages = manifest.watchdog.allowed_packages;
    app.video_encoder = to_text(manifest.video_encoder);
    return app;
}

BaseLaunch launch_of(const Application& application, const ApplicationVersion& version) {
    BaseLaunch launch;
    static_cast<GuestImage&>(launch) = version;
    launch.id = InstanceId(version.base_instance);
    launch.app_id = application.id.str();
    launch.app_name = application.name;
    launch.app_version = version.number;
    launch.image_id = version.parent_image_id;
    launch.image_version = version.parent_image_version;
    launch.layers = {version.parent_layer};
    std::vector<PackageRef> packages = version.packages;
    for (PackageRef& package : packages) package.fetch = true;
    launch.packages = std::move(packages);
    launch.app = setup_of(application, version.manifest);
    launch.resources = application.effective_resources();
    launch.node_selector = application.node_selector;
    launch.features = version.manifest.features;
    launch.needs_gpu_encoder = version.manifest.video_encoder == VideoEncoder::gpu;
    return launch;
}

log::Fields fields_of(const std::string& application, int version) {
    return {{"application", application}, {"version", std::to_string(version)}};
}

}  // namespace

void ApplicationService::Implementation::post(std::function<void()> job) {
    if (!pool_.post(std::move(job))) log::debug("work on applications is left: the service is stopping");
}

void ApplicationService::Implementation::call_later(const std::shared_ptr<Link>& link,
                                                    std::function<void(Implementation&)> call) {
    std::lock_guard lock(link->mutex);
    if (Implementation* const self = link->owner) self->post([self, call = std::move(call)] { call(*self); });
}

// Made once: from the operation that made the version, or again after a crash of it.
void ApplicationService::Implementation::start_bootstrap(const Target& target, const std::string& requestor) {
    const Ptr application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || application->deleting || version->status != ImageStatus::initializing) return;
    if (operation_exists(target.bootstrap)) return;
    auto spec =
        spec_for("application.bootstrap", "Bootstrapping application", target.application, target, requestor);
    spec.id = target.bootstrap;
    spec.claims = {version_claim(target.application, target.version)};
    spec.cancellable = true;
    try {
        parts_.engine.start(std::move(spec), {});
    } catch (const Error& e) {
        if (e.code() != ErrorCode::busy) throw;  // held by a deletion, which sees to the version
    }
}

OperationResult ApplicationService::Implementation::run_bootstrap(OperationContext& context) {
    const std::string id = context.operation().id.str();
    const auto bootstrap = std::make_shared<Bootstrap>();
    bootstrap->target = Target::of(context.operation());
    bootstrap->operation = id;
    bootstrap->requestor = context.operation().requestor;
    bootstrap->completion = context.detach([this, id] { cancel_bootstrap(id, cancelled()); });
    bootstraps_.with([&](auto& all) { all.insert_or_assign(id, bootstrap); });
    if (context.stop().stop_requested()) cancel_bootstrap(id, cancelled());  // before it was among them
    queue_.enter(id, bootstrap->target.application, [this, bootstrap] {
        post([this, bootstrap] { do_step(bootstrap, [&] { begin(bootstrap); }); });
    });
    return {};
}

void ApplicationService::Implementation::cancel_bootstrap(const std::string& operation, const Error& reason) {
    const BootstrapPtr bootstrap = bootstraps_.with([&](const auto& all) {
        const auto found = all.find(operation);
        return found == all.end() ? nullptr : found->second;
    });
    if (bootstrap) bootstrap->completion->fail(reason);
}

void ApplicationService::Implementation::do_step(const BootstrapPtr& bootstrap,
                                                 const std::function<void()>& step) {
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

// Goes on where the record says that an earlier life came to.
void ApplicationService::Implementation::begin(const BootstrapPtr& bootstrap) {
    const Target& target = bootstrap->target;
    const Ptr application = parts_.applications.get(target.application);
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
    throw cancelled();
}

std::string ApplicationService::Implementation::choose_base(const Target& target) {
    const std::string id = parts_.ids.object_id();
    const Ptr application = parts_.applications.update(target.application, [&](Application& record) {
        ApplicationVersion* const version = record.version(target.version);
        if (version == nullptr || version->status != ImageStatus::initializing || record.deleting)
            throw cancelled();
        if (version->base_instance.empty()) version->base_instance = id;
    });
    return version_of(*application, target.version).base_instance;
}

void ApplicationService::Implementation::launch(const BootstrapPtr& bootstrap, const Application& before) {
    const Target& target = bootstrap->target;
    const bool resumed = !version_of(before, target.version).base_instance.empty();
    const std::string base = choose_base(target);
    const Ptr application = parts_.applications.get(target.application);
    BaseLaunch wanted = launch_of(*application, version_of(*application, target.version));
    wanted.requestor = bootstrap->requestor;
    parts_.instances.launch_base(wanted);
    auto fields = fields_of(target.application, target.version);
    fields.emplace_back("container", base);
    log::info(resumed ? "bootstrap continued" : "bootstrap started", fields);
    await_guest(bootstrap, base);
    set_deadline(bootstrap, base);
}

void ApplicationService::Implementation::set_deadline(const BootstrapPtr& bootstrap,
                                                      const std::string& base) {
    const Duration limit = parts_.bootstrap_limit;
    const Duration left = parts_.instances.get(base)->created_at + limit - parts_.clock.now();
    const Error late(ErrorCode::internal, "bootstrap did not end within " + format_duration(limit));
    bootstrap->deadline =
        timer_.after(std::max(left, Duration::zero()),
                     [this, operation = bootstrap->operation, late] { cancel_bootstrap(operation, late); });
}

void ApplicationService::Implementation::await_guest(const BootstrapPtr& bootstrap, const std::string& base) {
    const auto done = [link = link_, bootstrap, base](const std::optional<Error>& failure) {
        if (failure) return bootstrap->completion->fail(*failure);
        call_later(link, [bootstrap, base](Implementation& self) { self.guest_ended(bootstrap, base); });
    };
    parts_.instances.finish_base(InstanceId(base), done);
}

void ApplicationService::Implementation::guest_ended(const BootstrapPtr& bootstrap, const std::string& base) {
    do_step(bootstrap, [&] {
        const Target& target = bootstrap->target;
        parts_.content.layers().capture(layer_name(target.application, target.version), base, agent_state);
        activate(target, base);
        remove_base(bootstrap, base);
    });
}

void ApplicationService::Implementation::activate(const Target& target, const std::string& base) {
    const std::string layer = layer_name(target.application, target.version);
    const std::uint64_t size = parts_.content.layers().size(layer);
    const std::vector<std::string> notes = parts_.instances.get(base)->notes;
    const bool publish = parts_.config.boolean("application.auto_publish");
    parts_.applications.update(target.application, [&](Application& application) {
        ApplicationVersion* const version = application.version(target.version);
        if (version == nullptr || version->status != ImageStatus::initializing) throw cancelled();
        version->status = ImageStatus::active;
        version->layer = layer;
        version->layer_size = size;
        version->notes = joined_notes(version->notes, notes);
        version->published = publish;
    });
    auto fields = fields_of(target.application, target.version);
    fields.emplace_back("bytes", std::to_string(size));
    fields.emplace_back("published", publish ? "true" : "false");
    log::info("application version active", fields);
}

void ApplicationService::Implementation::remove_base(const BootstrapPtr& bootstrap, const std::string& base) {
    if (base.empty()) return base_removed(bootstrap);
    const auto done = [link = link_, bootstrap] {
        call_later(link, [bootstrap](Implementation& self) {
            self.do_step(bootstrap, [&] { self.base_removed(bootstrap); });
        });
    };
    parts_.instances.remove_base(InstanceId(base), done);
}

void ApplicationService::Implementation::base_removed(const BootstrapPtr& bootstrap) {
    const Target& target = bootstrap->target;
    parts_.applications.update(target.application, [&](Application& application) {
        if (ApplicationVersion* const version = application.version(target.version))
            version->base_instance.clear();
    });
    bootstrap->completion->succeed([this, bootstrap] { return conclude(bootstrap); });
}

OperationResult ApplicationService::Implementation::conclude(const BootstrapPtr& bootstrap) {
    const std::string& id = bootstrap->target.application;
    enforce_limit(id);
    tell_published(id);
    take_up_pending(id);
    OperationResult result;
    result.after = [this, operation = bootstrap->operation] { forget(operation); };
    return result;
}

// Waits for the step that is being done: none comes after it.
void ApplicationService::Implementation::forget(const std::string& operation) {
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

OperationResult ApplicationService::Implementation::undo_bootstrap(const Operation& operation,
                                                                   const Error& error) {
    const Target target = Target::of(operation);
    forget(operation.id.str());
    fail_version(target, error.what());
    take_up_pending(target.application);
    return {};
}

void ApplicationService::Implementation::fail_version(const Target& target, const std::string& reason) {
    const Ptr application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr || version->status == ImageStatus::deleted) {  // a deletion sees to the container
        parts_.content.drop({}, {layer_name(target.application, target.version)});
        return;
    }
    if (version->status == ImageStatus::active) return;
    parts_.applications.update(target.application, [&](Application& record) {
        ApplicationVersion* const failed = record.version(target.version);
        if (failed == nullptr || failed->status != ImageStatus::initializing) return;
        failed->status = ImageStatus::error;
        failed->error_message = clipped(reason, max_error_bytes);
    });
    auto fields = fields_of(target.application, target.version);
    fields.emplace_back("error", reason);
    log::warning("bootstrap failed", fields);
    if (!version->base_instance.empty()) fail_base(version->base_instance, reason);
}

// The container that is left keeps its record and logs. Should it end well after all, nobody needs it.
void ApplicationService::Implementation::fail_base(const std::string& base, const std::string& reason) {
    const InstanceId id(base);
    try {
        parts_.instances.report(base, base, {"error", timed_out_inside, reason, {}});
    } catch (const Error& e) {
        log::debug("base container did not take its failure", {{"container", base}, {"error", e.what()}});
        if (e.code() == ErrorCode::not_found) return;
    }
    parts_.instances.finish_base(id, [link = link_, id](const std::optional<Error>& failure) {
        if (failure) return;
        call_later(link, [id](Implementation& self) { self.parts_.instances.remove_base(id, [] {}); });
    });
}

}  // namespace svc

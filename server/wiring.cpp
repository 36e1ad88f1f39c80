#include "server/wiring.h"

#include <optional>

#include "libsvc/base/error.h"

namespace svc::server {

namespace {

Follower::Interval interval_of(ConfigService& config, std::string_view key) {
    return [&config, key = std::string(key)] { return config.values().duration(key); };
}

// Nothing for one that is gone already.
std::optional<std::string> start_removal(InstanceService& instances, const std::string& id) {
    try {
        return instances.remove(id, true, PathWord::containers, "")->id.str();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return std::nullopt;
    }
}

// By force, and until the last one is gone. Holds a worker of the engine, which has at least two.
void remove_instances(const WiredServices& services, const std::string& node) {
    std::vector<std::string> operations;
    for (const auto& instance : services.instances.list()) {
        if (instance->node != node) continue;
        if (auto operation = start_removal(services.instances, instance->id.str()))
            operations.push_back(std::move(*operation));
    }
    for (const std::string& operation : operations) {
        const auto ended = services.engine.wait(operation, std::nullopt);
        if (ended->status != OperationStatus::success) throw Error(ErrorCode::internal, ended->err);
    }
}

void wire_configuration(const WiredServices& services) {
    ConfigService& config = services.config;
    ApplicationService& applications = services.applications;
    Followers& followers = services.followers;
    // What was held back while updates were off is looked for when they are on again.
    for (const char* key : {"application.addons", "application.auto_update"})
        config.on_change(key, [&applications] { applications.updates().global_addons_changed(); });
    config.on_change("application.max_published_versions",
                     [&applications] { applications.publication().enforce_limits(); });
    for (const char* key : {"images.url", "images.auth", "images.allow_insecure", "images.version_lockstep"})
        config.on_change(key, [&followers] { followers.images.run_now(); });
    for (const char* key : {"registry.url", "registry.mode", "registry.fingerprint", "registry.filter"})
        config.on_change(key, [&followers] { followers.registry.run_now(); });
    config.on_change("images.update_interval", [&followers] { followers.images.interval_changed(); });
    config.on_change("registry.update_interval", [&followers] { followers.registry.interval_changed(); });
}

}  // namespace

std::vector<BulkKind> bulk_kinds(ApplicationService& applications, InstanceService& instances) {
    const auto instances_of = [&instances](PathWord word) {
        const std::string noun(to_text(word));
        return BulkKind{noun, "Deleting " + noun,
                        [&instances, noun](std::string_view id) {
                            return "/1.0/" + noun + "/" + instances.get(id)->id.str();
                        },
                        [&instances, word](std::string_view id, bool force, std::string requestor) {
                            return instances.remove(id, force, word, std::move(requestor));
                        }};
    };
    const BulkKind kind{"applications", "Deleting applications",
                        [&applications](std::string_view id) {
                            return "/1.0/applications/" + applications.get(id)->id.str();
                        },
                        [&applications](std::string_view id, bool force, std::string requestor) {
                            return applications.removal().remove(id, force, std::move(requestor));
                        }};
    return {kind, instances_of(PathWord::containers), instances_of(PathWord::instances)};
}

Followers::Followers(ConfigService& config, ImageSync& image_sync, RegistryService& service)
    : images("image-server", interval_of(config, "images.update_interval"),
             [&image_sync] { image_sync.synchronise(); }),
      registry("registry", interval_of(config, "registry.update_interval"), [&config, &service] {
          if (!config.text("registry.url").empty()) service.synchronise();
      }) {}

void Followers::start() {
    images.start();
    registry.start();
}

bool Followers::stop(Duration limit) {
    const bool images_ended = images.stop(limit);
    return registry.stop(limit) && images_ended;
}

void wire(const WiredServices& services) {
    ApplicationService& applications = services.applications;
    applications.publication().on_published(
        [&registry = services.registry](const std::string& application) { registry.published(application); });
    services.addons.on_new_version(
        [&applications](const std::string& addon) { applications.updates().addon_changed(addon); });
    services.images.on_new_version(
        [&applications](const std::string& image) { applications.updates().image_changed(image); });
    services.instances.on_application_released(
        [&applications](const std::string&, int) { applications.publication().enforce_limits(); });
    services.nodes.on_forced_removal(
        [services](const std::string& node) { remove_instances(services, node); });
    wire_configuration(services);
}

}  // namespace svc::server

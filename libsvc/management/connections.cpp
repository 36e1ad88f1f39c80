#include "libsvc/management/connections.h"

namespace svc {

void connect_services(const ConnectedServices& services) {
    ApplicationService& applications = services.applications;
    applications.publication().on_published(
        [&registry = services.registry](const std::string& application) { registry.published(application); });
    services.addons.on_new_version(
        [&applications](const std::string& addon) { applications.updates().addon_changed(addon); });
    services.images.on_new_version(
        [&applications](const std::string& image) { applications.updates().image_changed(image); });
    services.instances.on_application_released(
        [&applications](const std::string&, int) { applications.publication().enforce_limits(); });
    // Updates that were held back while application.auto_update was off are made when it is on again.
    for (const char* key : {"application.addons", "application.auto_update"})
        services.config.on_change(key, [&applications] { applications.updates().global_addons_changed(); });
    services.config.on_change("application.max_published_versions",
                              [&applications] { applications.publication().enforce_limits(); });
}

void connect_followers(ConfigService& config, Follower& images, Follower& registry) {
    for (const char* key : {"images.url", "images.auth", "images.allow_insecure", "images.version_lockstep"})
        config.on_change(key, [&images] { images.run_now(); });
    for (const char* key : {"registry.url", "registry.mode", "registry.fingerprint", "registry.filter"})
        config.on_change(key, [&registry] { registry.run_now(); });
    config.on_change("images.update_interval", [&images] { images.interval_changed(); });
    config.on_change("registry.update_interval", [&registry] { registry.interval_changed(); });
}

}  // namespace svc

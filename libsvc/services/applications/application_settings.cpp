#include "libsvc/services/applications/application_settings.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

std::string type_or_default(const std::string& instance_type) {
    return instance_type.empty() ? std::string(default_instance_type) : instance_type;
}

}  // namespace

void check_instance_type(const std::string& type) {
    if (instance_type_resources(type_or_default(type))) return;
    throw_invalid("instance-type", "unknown instance type " + quoted(type));
}

void check_pool(const PoolSettings& pool, int most) {
    if (pool.max > most)
        throw_invalid("pool.max",
                      "must not be above application.max_pool_size, which is " + std::to_string(most));
}

void set_settings(Application& application, const ApplicationManifest& manifest) {
    check_instance_type(manifest.instance_type);
    application.instance_type = type_or_default(manifest.instance_type);
    application.tags = manifest.tags;
    application.addons = manifest.addons;
    application.resources = manifest.resources;
    application.node_selector = manifest.node_selector;
}

void take_settings(Application& application, const ApplicationManifest& before,
                   const ApplicationManifest& now) {
    if (now.instance_type != before.instance_type)
        application.instance_type = type_or_default(now.instance_type);
    if (now.tags != before.tags) application.tags = now.tags;
    if (now.addons != before.addons) application.addons = now.addons;
    if (!(now.resources == before.resources)) application.resources = now.resources;
    if (now.node_selector != before.node_selector) application.node_selector = now.node_selector;
}

void patch_settings(Application& application, const ApplicationPatch& patch) {
    if (patch.instance_type) {
        check_instance_type(*patch.instance_type);
        application.instance_type = type_or_default(*patch.instance_type);
    }
    if (patch.tags) application.tags = *patch.tags;
    if (patch.addons) application.addons = *patch.addons;
    if (patch.node_selector) application.node_selector = *patch.node_selector;
    if (patch.resources) application.resources = application.resources.changed_by(*patch.resources);
    if (patch.pool) application.pool = *patch.pool;
    if (patch.inhibit_auto_updates) application.inhibit_auto_updates = *patch.inhibit_auto_updates;
}

// Only what the application asks for itself counts: a launch may raise what its instance type has.
void check_disk(const Application& application, std::uint64_t root_bytes) {
    if (application.resources.disk && *application.resources.disk < root_bytes)
        throw_invalid("resources.disk-size", "the image has " + std::to_string(root_bytes) + " bytes");
}

}  // namespace svc

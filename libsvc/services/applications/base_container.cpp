#include "libsvc/services/applications/base_container.h"

#include <utility>

namespace svc {

namespace {

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
    app.boot = manifest.boot;
    app.required_permissions = manifest.required_permissions;
    app.extra_data = extra_data_json(manifest.extra_data);
    app.keep = manifest.keep;
    app.watchdog_disabled = manifest.watchdog.disabled;
    app.watchdog_allowed_packages = manifest.watchdog.allowed_packages;
    app.watchdog_command = manifest.watchdog.command;
    app.video_encoder = to_text(manifest.video_encoder);
    return app;
}

}  // namespace

BaseLaunch base_launch_of(const Application& application, const ApplicationVersion& version) {
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

}  // namespace svc

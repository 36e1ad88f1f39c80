#include "libsvc/services/instances/launch/launch_source.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

[[noreturn]] void throw_unknown(const std::string& what) {
    throw Error(ErrorCode::not_found, what + " not found");
}

[[noreturn]] void throw_inactive(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, what + " is not active");
}

const ImageVersion& choose_version(const Image& image, std::optional<int> number) {
    const ImageVersion* const version = number ? image.version(*number) : image.newest_active();
    if (number && version == nullptr) throw_unknown("image version");
    if (image.deleting || version == nullptr) throw_inactive("image " + image.name);
    if (version->status != ImageStatus::active)
        throw_inactive("version " + std::to_string(version->version) + " of image " + image.name);
    return *version;
}

const ApplicationVersion& choose_version(const Application& application, std::optional<int> number) {
    if (application.deleting) throw_unknown("application");
    const ApplicationVersion* const version =
        number ? application.version(*number) : application.newest_published();
    if (!number && version == nullptr) throw_unknown("published application version");
    if (version == nullptr || version->status == ImageStatus::deleted) throw_unknown("application version");
    if (version->status != ImageStatus::active)
        throw_inactive("version " + std::to_string(version->number) + " of application " + application.name);
    return *version;
}

// Those of the request replace the version's of the same name.
std::vector<ServiceEntry> merged_services(std::vector<ServiceEntry> services,
                                          const std::vector<ServiceEntry>& asked) {
    std::erase_if(services, [&](const ServiceEntry& service) {
        return !service.name.empty() &&
               std::ranges::find(asked, service.name, &ServiceEntry::name) != asked.end();
    });
    services.insert(services.end(), asked.begin(), asked.end());
    check_services(services);
    return services;
}

InstanceResources overlaid(InstanceResources resources, const InstanceCreate& request) {
    if (request.cpus) resources.cpus = *request.cpus;
    if (request.memory) resources.memory = *request.memory;
    if (request.disk_size) resources.disk = *request.disk_size;
    if (request.gpu_slots) resources.gpu_slots = *request.gpu_slots;
    return resources;
}

void check_disk(const LaunchSource& source) {
    if (source.instance.resources.disk < source.root_bytes)
        throw_invalid("disk_size",
                      "what the container is made of has " + std::to_string(source.root_bytes) + " bytes");
}

std::vector<std::string> list_of(const std::string& text) {
    std::vector<std::string> items;
    for (const std::string& item : split(text, ','))
        if (const auto name = trim(item); !name.empty()) items.emplace_back(name);
    return items;
}

std::vector<PackageRef> addon_packages(const std::vector<std::string>& names, const Addons& addons) {
    std::vector<PackageRef> packages;
    for (const std::string& name : names) {
        if (std::ranges::find(packages, name, &PackageRef::name) != packages.end()) continue;
        const auto addon = addons.find(name);
        const AddonVersion* const newest = addon && !addon->deleting ? addon->newest() : nullptr;
        if (newest == nullptr) throw_unknown("addon");
        packages.push_back(addon->package(*newest, true));
    }
    return packages;
}

// What the request alone decides.
void take_request(const InstanceCreate& request, const ConfigValues& config, Instance& instance) {
    InstanceConfig wanted = request.config;
    if (wanted.platform.empty()) wanted.platform = config.text("container.default_platform");
    if (wanted.platform.empty()) wanted.platform = "null";
    instance.config = std::move(wanted);
    instance.own_name = request.name;
    instance.user_data = request.user_data;
    instance.tags = request.tags;
    instance.no_start = request.no_start;
    instance.wanted_node = request.node;
}

LaunchSource from_image(const InstanceCreate& request, const LaunchRecords& records,
                        const ConfigValues& config) {
    const auto image = records.images.get(request.image_id);
    const ImageVersion& version = choose_version(*image, request.image_version);
    const auto resources = instance_type_resources(
        request.instance_type.empty() ? default_instance_type : std::string_view(request.instance_type));
    if (!resources) throw_invalid("instance_type", "unknown instance type");
    LaunchSource source;
    Instance& instance = source.instance;
    take_request(request, config, instance);
    instance.image_id = image->id.str();
    instance.image_version = version.version;
    instance.layers = {version.layer()};
    static_cast<GuestImage&>(instance) = version.metadata;
    instance.instance_type = request.instance_type;
    instance.resources = overlaid(*resources, request);
    instance.services = request.services;
    instance.packages = addon_packages(request.addons, records.addons);
    instance.features =
        merged_features({config.list("container.features"), list_of(request.config.features)});
    source.root_bytes = version.root_size;
    return source;
}

// The parent image may be gone: its layer is known by name alone then.
std::uint64_t root_bytes(const ApplicationVersion& version, const Images& images) {
    if (version.parent_layer.empty()) return version.layer_size;
    const auto image = images.find(version.parent_image_id);
    const ImageVersion* const parent = image ? image->version(version.parent_image_version) : nullptr;
    return version.layer_size + (parent == nullptr ? 0 : parent->root_size);
}

// The launch's own words win over the manifest's.
void take_manifest(const ApplicationManifest& manifest, Instance& instance) {
    InstanceConfig config = instance.config;
    if (config.boot_package.empty()) config.boot_package = manifest.boot_package;
    if (config.boot_activity.empty()) config.boot_activity = manifest.boot_activity;
    instance.config = std::move(config);
    AppSetup app = instance.app;
    app.name = instance.app_name;
    app.boot = manifest.boot;
    app.required_permissions = manifest.required_permissions;
    app.watchdog_disabled = manifest.watchdog.disabled;
    app.watchdog_allowed_packages = manifest.watchdog.allowed_packages;
    app.watchdog_command = manifest.watchdog.command;
    app.video_encoder = to_text(manifest.video_encoder);
    instance.app = std::move(app);
    instance.needs_gpu_encoder = manifest.video_encoder == VideoEncoder::gpu;
    instance.prefers_gpu_encoder = manifest.video_encoder == VideoEncoder::gpu_preferred;
}

LaunchSource from_application(const InstanceCreate& request, const LaunchRecords& records,
                              const ConfigValues& config) {
    if (!request.addons.empty()) throw_invalid("addons", "cannot be given together with app_id");
    if (!request.instance_type.empty())
        throw_invalid("instance_type", "cannot be given together with app_id");
    const auto application = records.applications.get(request.app_id);
    const ApplicationVersion& version = choose_version(*application, request.app_version);
    LaunchSource source;
    Instance& instance = source.instance;
    take_request(request, config, instance);
    instance.app_id = application->id.str();
    instance.app_name = application->name;
    instance.app_version = version.number;
    instance.image_id = version.parent_image_id;
    instance.image_version = version.parent_image_version;
    instance.layers = version.layers();
    instance.packages = all_there(version.packages);
    static_cast<GuestImage&>(instance) = version;
    instance.instance_type = application->instance_type;
    instance.resources = overlaid(application->effective_resources(), request);
    instance.services = merged_services(version.manifest.services, request.services);
    instance.node_selector = application->node_selector;
    instance.gpu_type = application->resources.gpu_type;
    instance.features = merged_features(
        {config.list("container.features"), version.manifest.features, list_of(request.config.features)});
    take_manifest(version.manifest, instance);
    source.root_bytes = root_bytes(version, records.images);
    return source;
}

// What the layers below a snapshot hold; 0 for what has been deleted since.
std::uint64_t bytes_below(const Instance& from, const LaunchRecords& records) {
    const auto application = from.app_id.empty() ? nullptr : records.applications.find(*from.app_id);
    const ApplicationVersion* const made = application ? application->version(from.app_version) : nullptr;
    if (made != nullptr) return root_bytes(*made, records.images);
    const auto image = records.images.find(*from.image_id);
    const ImageVersion* const version = image ? image->version(from.image_version) : nullptr;
    return version == nullptr ? 0 : version->root_size;
}

// The guest as it was when the snapshot was taken, with its disk as one more layer.
LaunchSource from_snapshot(const InstanceCreate& request, const LaunchRecords& records,
                           const ConfigValues& config) {
    const auto snapshot = records.snapshots.get(request.snapshot);
    if (snapshot->status != SnapshotStatus::ready)
        throw Error(ErrorCode::invalid_argument, "snapshot is not ready");
    const Instance& from = snapshot->instance;
    LaunchSource source;
    Instance& instance = source.instance;
    take_request(request, config, instance);
    static_cast<GuestDescription&>(instance) = from;
    instance.layers = snapshot->layers();
    instance.config.change([&](InstanceConfig& wanted) {
        if (request.config.platform.empty()) wanted.platform = from.config->platform;
        if (wanted.boot_package.empty()) wanted.boot_package = from.config->boot_package;
        if (wanted.boot_activity.empty()) wanted.boot_activity = from.config->boot_activity;
    });
    instance.instance_type = from.instance_type;
    instance.gpu_type = from.gpu_type;
    instance.prefers_gpu_encoder = from.prefers_gpu_encoder;
    instance.resources = overlaid(from.resources, request);
    instance.features = merged_features({from.features, list_of(request.config.features)});
    std::vector<ServiceEntry> services = from.services;
    for (ServiceEntry& service : services) service.node_port = service.node_port_end = 0;
    instance.services = merged_services(std::move(services), request.services);
    source.root_bytes = snapshot->size + bytes_below(from, records);
    return source;
}

LaunchSource named_source(const InstanceCreate& request, const LaunchRecords& records,
                          const ConfigValues& config) {
    if (!request.snapshot.empty()) return from_snapshot(request, records, config);
    return request.app_id.empty() ? from_image(request, records, config)
                                  : from_application(request, records, config);
}

}  // namespace

std::vector<std::string> merged_features(const std::vector<std::vector<std::string>>& lists) {
    std::vector<std::string> merged;
    for (const auto& list : lists)
        for (const std::string& feature : list)
            if (std::ranges::find(merged, feature) == merged.end()) merged.push_back(feature);
    return merged;
}

LaunchSource find_launch_source(const InstanceCreate& request, const LaunchRecords& records,
                                const ConfigValues& config) {
    LaunchSource source = named_source(request, records, config);
    const InstanceConfig& wanted = source.instance.config;
    source.instance.app.change([&](AppSetup& app) {
        app.boot_package = wanted.boot_package;
        app.boot_activity = wanted.boot_activity;
        app.watchdog_disabled = app.watchdog_disabled || wanted.disable_watchdog;
    });
    check_disk(source);
    return source;
}

InstanceCreate pinned(InstanceCreate request, const LaunchSource& source) {
    if (!request.snapshot.empty()) return request;
    if (request.app_id.empty())
        request.image_version = source.instance.image_version;
    else
        request.app_version = source.instance.app_version;
    return request;
}

}  // namespace svc

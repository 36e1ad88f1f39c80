#include "instance-agent/agent/agent_devices.h"

#include <algorithm>
#include <array>

#include "instance-agent/agent/devices/camera/camera_device.h"
#include "instance-agent/agent/devices/display/display_device.h"
#include "instance-agent/agent/devices/location/location_device.h"
#include "instance-agent/agent/devices/platform/platform_device.h"
#include "instance-agent/agent/devices/sensors/sensors_device.h"
#include "instance-agent/agent/devices/stream/stream_device.h"
#include "instance-agent/agent/devices/telephony/telephony_device.h"
#include "instance-agent/agent/devices/tracing/traced.h"
#include "instance-agent/agent/devices/tracing/tracing_device.h"
#include "instance-agent/agent/devices/vehicle/vehicle.h"

namespace svc::agent {
namespace {

// In the order of the API's description.
constexpr std::array<std::string_view, 13> extension_order{"camera_support",
                                                           "camera_static_data",
                                                           "camera_video_streaming",
                                                           "sensor_support",
                                                           "tracing_support",
                                                           "active_sensors",
                                                           "platform_support",
                                                           "vhal_support",
                                                           "location_support",
                                                           "pprof",
                                                           "metrics",
                                                           "log_level",
                                                           "telephony"};

std::size_t place_of(const std::string& extension) {
    const auto found = std::find(extension_order.begin(), extension_order.end(), extension);
    return static_cast<std::size_t>(found - extension_order.begin());
}

// A device comes after those that its constructor needs.
std::vector<std::unique_ptr<Device>> make_devices(const DeviceContext& context, Tracer& tracer,
                                                  StreamLink& link) {
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::make_unique<LocationDevice>(context, tracer, link));
    devices.push_back(std::make_unique<SensorsDevice>(context, tracer, link));
    auto display = std::make_unique<DisplayDevice>();
    devices.push_back(std::make_unique<CameraDevice>(context, tracer, display->screen(), link));
    devices.push_back(std::make_unique<TracingDevice>(context, tracer));
    auto platform = std::make_unique<PlatformDevice>(context, link);
    devices.push_back(std::make_unique<StreamDevice>(link, *platform, context.automotive));
    devices.push_back(std::move(platform));
    devices.push_back(make_vehicle(context));
    devices.push_back(std::move(display));
    devices.push_back(std::make_unique<TelephonyDevice>(context));
    return devices;
}

}  // namespace

AgentDevices::AgentDevices(DeviceContext context)
    : context_(std::move(context)), devices_(make_devices(context_, tracer_, link_)) {}

std::vector<Route> AgentDevices::routes() {
    std::vector<Route> all;
    for (const auto& device : devices_)
        for (Route& route : device->routes()) all.push_back(std::move(route));
    return traced(std::move(all), tracer_);
}

std::vector<GuestFeature> AgentDevices::features() {
    std::vector<GuestFeature> all;
    for (const auto& device : devices_) all.push_back(device->guest_feature());
    return traced(std::move(all), tracer_);
}

void AgentDevices::refresh() {
    for (const auto& device : devices_) device->refresh();
}

std::vector<std::string> AgentDevices::extensions() const {
    std::vector<std::string> all{"metrics", "log_level"};
    for (const auto& device : devices_)
        for (std::string& name : device->extensions()) all.push_back(std::move(name));
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
    return all;
}

}  // namespace svc::agent

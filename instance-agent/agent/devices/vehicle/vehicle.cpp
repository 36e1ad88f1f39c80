#include "instance-agent/agent/devices/vehicle/vehicle.h"

#include "instance-agent/agent/devices/vehicle/config_file.h"
#include "instance-agent/agent/processes/boot_time.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

namespace {

[[noreturn]] void throw_unsupported() {
    throw Error(ErrorCode::unsupported, "VHAL is not supported");
}

// The answer of every route and op without a vehicle.
std::vector<Route> refusing_routes() {
    std::vector<Route> routes;
    for (const Method method : {Method::get, Method::post, Method::put, Method::patch, Method::delete_,
                                Method::options, Method::other})
        for (const auto* path : {"/1.0/vhal", "/1.0/vhal/{prop}", "/1.0/vhal/{prop}/{area}"})
            routes.push_back({method, path, Access::everyone, Dispatch::on_io_thread, "vhal",
                              [](Request&) -> Response { throw_unsupported(); }});
    return routes;
}

std::map<std::string, GuestOp> refusing_ops() {
    std::map<std::string, GuestOp> ops;
    for (const auto* name : {"vhal.configs", "vhal.get", "vhal.set", "vhal.subscribe", "vhal.unsubscribe",
                             "vhal.provide", "vhal.reply"})
        ops[name] = [](const GuestSessionPtr&, const JsonFields&) -> GuestAnswer { throw_unsupported(); };
    return ops;
}

std::filesystem::path config_path(const DeviceContext& context) {
    if (!context.vhal_config.empty()) return context.vhal_config;
    std::error_code ignored;
    const auto own = context.paths.data / "vhal" / "properties.json";
    return std::filesystem::exists(own, ignored) ? own : std::filesystem::path();
}

VehicleConfig read_vehicle_config(const std::filesystem::path& path) {
    if (path.empty()) return parse_vehicle_config(default_properties());
    return parse_vehicle_config(read_file(path, max_config_file));
}

std::optional<PropertyTable> load_properties(const std::filesystem::path& path) {
    try {
        VehicleConfig config = read_vehicle_config(path);
        for (const std::string& name : config.skipped)
            log::warning("vehicle property is unknown and left out", {{"property", name}});
        return PropertyTable(std::move(config.properties));
    } catch (const Error& e) {
        for (const std::string& fault : split(e.what(), '\n'))
            log::error("vehicle configuration is faulty", {{"file", path.filename()}, {"fault", fault}});
    }
    return std::nullopt;
}

}  // namespace

std::vector<Route> Vehicle::routes() {
    return service_ ? vehicle_routes(*service_) : refusing_routes();
}

GuestFeature Vehicle::guest_feature() {
    GuestFeature feature;
    if (!service_) {
        feature.ops = refusing_ops();
        return feature;
    }
    feature.name = "vhal";
    feature.ops = vehicle_ops(*service_);
    feature.closed = [this](const GuestSessionPtr& session) { service_->closed(session); };
    return feature;
}

std::vector<std::string> Vehicle::extensions() const {
    if (!service_) return {};
    return {"vhal_support"};
}

std::unique_ptr<Device> make_vehicle(const DeviceContext& context) {
    if (!context.automotive) return std::make_unique<Vehicle>(nullptr);
    auto table = load_properties(config_path(context));
    return std::make_unique<Vehicle>(
        std::make_unique<VehicleService>(std::move(table), context.clock, boot_time));
}

}  // namespace svc::agent

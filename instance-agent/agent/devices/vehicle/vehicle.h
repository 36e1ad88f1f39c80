#pragma once
// The vehicle device: routes /1.0/vhal of the control API and the ops vhal.* of the guest interface
// (docs/vehicle.md).
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/vehicle/vehicle_service.h"

namespace svc::agent {

// Without `service` (the image is not automotive) all routes and ops fail with "VHAL is not supported".
class Vehicle final : public Device {
  public:
    explicit Vehicle(std::unique_ptr<VehicleService> service) : service_(std::move(service)) {}

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override;

  private:
    const std::unique_ptr<VehicleService> service_;
};

// Reads the properties of an automotive image: the context's file, else `vhal/properties.json` in the agent's
// data, else the built-in table. Faults of the file are logged; then the vehicle has no properties until a
// guest provides them.
std::unique_ptr<Device> make_vehicle(const DeviceContext& context);

// The routes and ops of the device.
std::vector<Route> vehicle_routes(VehicleService& service);
std::map<std::string, GuestOp> vehicle_ops(VehicleService& service);

}  // namespace svc::agent

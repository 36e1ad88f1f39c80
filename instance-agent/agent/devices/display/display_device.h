#pragma once
// The size and rotation of the guest's screen, as guests tell them (docs/guest-interface.md).
#include <atomic>

#include "instance-agent/agent/devices/device.h"

namespace svc::agent {

enum class Orientation : std::uint8_t { landscape, portrait, reverse_landscape, reverse_portrait };

// Thread-safe.
class Screen {
  public:
    Orientation orientation() const { return orientation_; }
    void turn(Orientation orientation) { orientation_ = orientation; }

  private:
    std::atomic<Orientation> orientation_{Orientation::landscape};
};

class DisplayDevice final : public Device {
  public:
    std::vector<Route> routes() override { return {}; }
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override { return {}; }

    std::shared_ptr<const Screen> screen() const {
        return screen_;
    }  // one object for the device's whole life

  private:
    std::shared_ptr<Screen> screen_ = std::make_shared<Screen>();
};

}  // namespace svc::agent

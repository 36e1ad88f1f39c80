#pragma once
// The gamepads of a client as devices, whatever makes devices.
#include <array>
#include <bitset>
#include <memory>

#include "instance-agent/streamer/input/linux_codes.h"
#include "instance-agent/streamer/input/virtual_device.h"

namespace svc::streamer {

// One thread. A gamepad is made at its first event; throws what `make` throws. Gamepads and buttons out of
// range are ignored. The trigger of a client that tells of its button alone is pulled by that: programs look
// at the axis.
class PadDevices {
  public:
    explicit PadDevices(DeviceMaker make) : make_(std::move(make)) {}
    void button(int pad, int index, bool pressed);
    void axis(int pad, int index, double value);
    void remove_all() { pads_ = {}; }  // which releases what is pressed on them

  private:
    struct Pad {
        std::unique_ptr<VirtualDevice> device{};
        std::bitset<pad_axes.size()> told{};  // axes that the client tells of
    };
    Pad* pad(int index);

    DeviceMaker make_;
    std::array<Pad, max_pads> pads_{};
};

}  // namespace svc::streamer

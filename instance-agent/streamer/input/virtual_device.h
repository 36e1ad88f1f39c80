#pragma once
// One input device of the kernel's making, and who makes them.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace svc::streamer {

struct AxisRange {
    int axis = 0, least = 0, most = 0;
};

// What a device can do, in the terms of linux/input-event-codes.h.
struct DeviceAbilities {
    std::string name;
    std::vector<int> keys{}, relative{};
    std::vector<AxisRange> absolute{};
    bool is_touch_panel = false;
};

// One thread. Gone with the object.
class VirtualDevice {
  public:
    virtual ~VirtualDevice() = default;
    virtual void emit(int type, int code, int value) = 0;
    void report();  // ends what belongs together
};

using DeviceMaker = std::function<std::unique_ptr<VirtualDevice>(const DeviceAbilities& abilities)>;

// By /dev/uinput. Throws unsupported where it is not there.
std::unique_ptr<VirtualDevice> make_uinput_device(const DeviceAbilities& abilities);

}  // namespace svc::streamer

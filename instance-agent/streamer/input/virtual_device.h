#pragma once
// One virtual input device of the kernel, and its factory.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace svc::streamer {

// What all of them say they are made by.
inline constexpr int virtual_vendor = 0x1d6b, virtual_product = 0x0104;

struct AxisRange {
    int axis = 0, least = 0, most = 0;
};

// The abilities of a device, by linux/input-event-codes.h.
struct DeviceAbilities {
    std::string name;
    std::vector<int> keys{}, relative{};
    std::vector<AxisRange> absolute{};
    bool is_touch_panel = false;
};

// One thread. The destructor removes the device.
class VirtualDevice {
  public:
    virtual ~VirtualDevice() = default;
    virtual void emit(int type, int code, int value) = 0;
    void report();  // sends SYN_REPORT: ends a group of events
};

using DeviceMaker = std::function<std::unique_ptr<VirtualDevice>(const DeviceAbilities& abilities)>;

// Makes devices by /dev/uinput. Throws unsupported without it.
std::unique_ptr<VirtualDevice> make_uinput_device(const DeviceAbilities& abilities);

}  // namespace svc::streamer

#pragma once
// An InputSink that makes input devices of the kernel: keyboard, pointer (absolute and relative), touch
// panel, gamepads.
#include <bitset>
#include <set>

#include "instance-agent/streamer/input/input.h"
#include "instance-agent/streamer/input/pad_devices.h"
#include "instance-agent/streamer/input/virtual_device.h"

namespace svc::streamer {

// A new screen size makes new devices for touch panel and pointer.
class DeviceInput final : public InputSink {
  public:
    DeviceInput(DeviceMaker make, int width, int height);  // throws what `make` throws

    void move(double x, double y) override;
    void move_by(int dx, int dy) override;
    void button(int button, bool pressed) override;
    void wheel(int x, int y) override;
    void touch_start(int slot, double x, double y) override;
    void touch_move(int slot, double x, double y) override;
    void touch_end(int slot) override;
    void key(int linux_code, bool pressed) override;
    void text(const std::string& utf8) override;
    void gamepad_button(int pad, int index, bool pressed) override;
    void gamepad_axis(int pad, int index, double value) override;
    void resized(int width, int height) override;
    void release_all() override;

  private:
    static constexpr std::size_t max_slots = 10;
    void make_sized();
    void place_touch(int slot, double x, double y);
    void press(int key, bool pressed);

    DeviceMaker make_;
    int width_, height_;
    std::unique_ptr<VirtualDevice> keyboard_, mouse_, pointer_, panel_;
    PadDevices pads_;
    std::bitset<max_slots> touches_;
    std::set<int> keys_, buttons_;  // keys and buttons that are down
    bool caps_lock_ = false;        // the guest's Caps Lock, as set by these keys
    int next_touch_ = 0;            // tracking id of the next touch
};

}  // namespace svc::streamer

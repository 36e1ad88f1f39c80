#pragma once
// The receiver of a client's keyboard, mouse, touch and gamepad input (docs/streamer.md, Input).
// Implementations: XTest, uinput, none.
#include <memory>
#include <string>
#include <vector>

namespace svc::streamer {

// One thread. Coordinates are pixels of the display; positions outside are moved to the edge.
class InputSink {
  public:
    virtual ~InputSink() = default;
    virtual void move(double x, double y) = 0;
    virtual void move_by(int dx, int dy) = 0;
    virtual void button(int button, bool pressed) = 0;  // 1 left, 2 middle, 3 right, 5 and up: extra
    virtual void wheel(int x, int y) = 0;               // steps; y = -1 is down
    virtual void touch_start(int slot, double x, double y) = 0;
    virtual void touch_move(int slot, double x, double y) = 0;
    virtual void touch_end(int slot) = 0;
    virtual void key(int linux_code, bool pressed) = 0;  // KEY_A, ... of linux/input-event-codes.h
    virtual void text(const std::string& utf8) = 0;      // types the text
    virtual void gamepad_button(int pad, int index, bool pressed) = 0;
    virtual void gamepad_axis(int pad, int index, double value) = 0;
    virtual void resized(int width, int height) = 0;
    virtual void release_all() = 0;  // releases keys, buttons and touches that are down
};

std::unique_ptr<InputSink> make_xtest_input(const std::string& display);  // throws unavailable
// Throws unsupported without /dev/uinput.
std::unique_ptr<InputSink> make_uinput_input(int width, int height);

// The Linux key code for a client's key code (docs/streamer.md, Input); 0: unknown.
int linux_key(int client_code);

}  // namespace svc::streamer

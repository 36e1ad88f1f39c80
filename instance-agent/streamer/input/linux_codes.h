#pragma once
// The kernel's codes of what the protocol numbers by itself (docs/streaming.md): mouse buttons, gamepads.
#include <linux/input-event-codes.h>

#include <array>
#include <cstddef>

namespace svc::streamer {

// Of buttons and axes in the order of the "standard gamepad" of browsers.
inline constexpr std::array<int, 17> pad_buttons{
    BTN_SOUTH,   BTN_EAST,      BTN_WEST,      BTN_NORTH,      BTN_TL,     BTN_TR,
    BTN_TL2,     BTN_TR2,       BTN_SELECT,    BTN_START,      BTN_THUMBL, BTN_THUMBR,
    BTN_DPAD_UP, BTN_DPAD_DOWN, BTN_DPAD_LEFT, BTN_DPAD_RIGHT, BTN_MODE};
inline constexpr std::array<int, 6> pad_axes{ABS_X, ABS_Y, ABS_RX, ABS_RY, ABS_Z, ABS_RZ};
inline constexpr std::size_t first_pad_trigger = 4;  // of the axes: the others are of sticks
inline constexpr std::size_t max_pads = 4;

int linux_button(int button);  // 1 left, 2 middle, 3 right, 4 and up: extra ones

}  // namespace svc::streamer

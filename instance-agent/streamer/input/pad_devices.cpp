#include "instance-agent/streamer/input/pad_devices.h"

#include <cmath>
#include <string>

namespace svc::streamer {

namespace {

constexpr int stick_range = 32767, trigger_range = 255;

DeviceAbilities gamepad(int pad) {
    DeviceAbilities abilities{.name = "svc stream gamepad " + std::to_string(pad + 1),
                              .keys = {pad_buttons.begin(), pad_buttons.end()}};
    for (std::size_t i = 0; i < pad_axes.size(); ++i)
        abilities.absolute.push_back(i < first_pad_trigger ? AxisRange{pad_axes[i], -stick_range, stick_range}
                                                           : AxisRange{pad_axes[i], 0, trigger_range});
    return abilities;
}

// The left and the upper button as the drivers of most gamepads have them and programs expect: the kernel's
// names for the sides give the same two numbers the other way round.
int code_of(int index) {
    const int code = pad_buttons[static_cast<std::size_t>(index)];
    return code == BTN_WEST ? BTN_X : code == BTN_NORTH ? BTN_Y : code;
}

int axis_of_trigger(int index) {
    constexpr int left_trigger = 6, right_trigger = 7;  // of the buttons
    constexpr int left_axis = first_pad_trigger;
    return index == left_trigger ? left_axis : index == right_trigger ? left_axis + 1 : -1;
}

}  // namespace

PadDevices::Pad* PadDevices::pad(int index) {
    if (index < 0 || index >= static_cast<int>(max_pads)) return nullptr;
    Pad& pad = pads_[static_cast<std::size_t>(index)];
    if (!pad.device) pad.device = make_(gamepad(index));
    return &pad;
}

void PadDevices::button(int pad_index, int index, bool pressed) {
    if (index < 0 || index >= static_cast<int>(pad_buttons.size())) return;
    Pad* const on = pad(pad_index);
    if (on == nullptr) return;
    on->device->emit(EV_KEY, code_of(index), pressed ? 1 : 0);
    const int axis = axis_of_trigger(index);
    if (axis >= 0 && !on->told.test(static_cast<std::size_t>(axis)))
        on->device->emit(EV_ABS, pad_axes[static_cast<std::size_t>(axis)], pressed ? trigger_range : 0);
    on->device->report();
}

void PadDevices::axis(int pad_index, int index, double value) {
    if (index < 0 || index >= static_cast<int>(pad_axes.size())) return;
    Pad* const on = pad(pad_index);
    if (on == nullptr) return;
    const auto axis = static_cast<std::size_t>(index);
    on->told.set(axis);
    const double scaled = axis >= first_pad_trigger ? (value + 1) / 2 * trigger_range : value * stick_range;
    on->device->emit(EV_ABS, pad_axes[axis], static_cast<int>(std::lround(scaled)));
    on->device->report();
}

}  // namespace svc::streamer

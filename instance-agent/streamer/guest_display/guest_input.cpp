#include "instance-agent/streamer/guest_display/guest_input.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "instance-agent/libsvcguest/display_wire.h"
#include "instance-agent/libsvcguest/svcguest.h"
#include "instance-agent/streamer/guest_display/display_connection.h"
#include "instance-agent/streamer/input/linux_codes.h"

namespace svc::streamer {
namespace {

wire_input event(svcguest_input_type type) {
    wire_input input{};
    input.kind = WIRE_INPUT;
    input.type = type;
    return input;
}

wire_input pressed_event(svcguest_input_type type, int code, bool pressed) {
    wire_input input = event(type);
    input.code = static_cast<std::uint32_t>(code);
    input.pressed = pressed ? 1 : 0;
    return input;
}

wire_input moved_event(svcguest_input_type type, int x, int y) {
    wire_input input = event(type);
    input.x = x;
    input.y = y;
    return input;
}

int on(double place, int size) {
    return static_cast<int>(std::floor(std::clamp(place, 0.0, static_cast<double>(size - 1))));
}

class GuestInput final : public InputSink {
  public:
    explicit GuestInput(std::shared_ptr<GuestDisplay> display)
        : display_(std::move(display)), size_(display_->mode()) {}

    void move(double x, double y) override { send(placed(SVCGUEST_POINTER, x, y)); }
    void move_by(int dx, int dy) override { send(moved_event(SVCGUEST_POINTER_BY, dx, dy)); }
    void wheel(int x, int y) override { send(moved_event(SVCGUEST_WHEEL, x, y)); }
    void button(int button, bool pressed) override {
        send(pressed_event(SVCGUEST_BUTTON, linux_button(button), pressed));
    }
    void key(int linux_code, bool pressed) override {
        send(pressed_event(SVCGUEST_KEY, linux_code, pressed));
    }
    void touch_start(int slot, double x, double y) override { touch(SVCGUEST_TOUCH_DOWN, slot, x, y); }
    void touch_move(int slot, double x, double y) override { touch(SVCGUEST_TOUCH_MOVE, slot, x, y); }
    void touch_end(int slot) override {
        wire_input input = event(SVCGUEST_TOUCH_UP);
        input.id = static_cast<std::uint32_t>(slot);
        send(input);
    }
    void text(const std::string& utf8) override {
        const std::uint32_t kind = WIRE_TEXT;
        display_->send(packet_of(kind) + utf8.substr(0, WIRE_MAX_TEXT));
    }
    void gamepad_button(int pad, int index, bool pressed) override {
        if (!is_pad(pad) || index < 0 || index >= static_cast<int>(pad_buttons.size())) return;
        wire_input input =
            pressed_event(SVCGUEST_PAD_BUTTON, pad_buttons[static_cast<std::size_t>(index)], pressed);
        input.id = static_cast<std::uint32_t>(pad);
        send(input);
    }
    void gamepad_axis(int pad, int index, double value) override {
        if (!is_pad(pad) || index < 0 || index >= static_cast<int>(pad_axes.size())) return;
        const auto axis = static_cast<std::size_t>(index);
        wire_input input = event(SVCGUEST_PAD_AXIS);
        input.id = static_cast<std::uint32_t>(pad);
        input.code = static_cast<std::uint32_t>(pad_axes[axis]);
        input.value = static_cast<float>(axis < first_pad_trigger ? value : (value + 1) / 2);
        send(input);
    }
    void resized(int width, int height) override {
        size_.width = width;
        size_.height = height;
    }
    void release_all() override {
        const std::uint32_t kind = WIRE_RELEASE_ALL;
        display_->send(packet_of(kind));
    }

  private:
    static bool is_pad(int pad) { return pad >= 0 && pad < static_cast<int>(max_pads); }
    wire_input placed(svcguest_input_type type, double x, double y) const {
        return moved_event(type, on(x, size_.width), on(y, size_.height));
    }
    void touch(svcguest_input_type type, int slot, double x, double y) {
        wire_input input = placed(type, x, y);
        input.id = static_cast<std::uint32_t>(slot);
        send(input);
    }
    void send(const wire_input& input) { display_->send(packet_of(input)); }

    std::shared_ptr<GuestDisplay> display_;
    DisplayMode size_;
};

}  // namespace

std::unique_ptr<InputSink> make_guest_input(std::shared_ptr<GuestDisplay> display) {
    return std::make_unique<GuestInput>(std::move(display));
}

}  // namespace svc::streamer

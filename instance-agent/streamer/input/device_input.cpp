#include "instance-agent/streamer/input/device_input.h"

#include <linux/input-event-codes.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "instance-agent/streamer/input/linux_codes.h"
#include "instance-agent/streamer/input/utf8.h"

namespace svc::streamer {

namespace {

constexpr int last_keyboard_key = 248;
constexpr int most_touch_id = 65535;

const std::vector<int> mouse_buttons{BTN_LEFT,  BTN_RIGHT,   BTN_MIDDLE, BTN_SIDE,
                                     BTN_EXTRA, BTN_FORWARD, BTN_BACK,   BTN_TASK};

DeviceAbilities keyboard() {
    DeviceAbilities abilities{.name = "svc stream keyboard"};
    for (int key = 1; key <= last_keyboard_key; ++key) abilities.keys.push_back(key);
    return abilities;
}

DeviceAbilities mouse() {
    return {
        .name = "svc stream mouse", .keys = mouse_buttons, .relative = {REL_X, REL_Y, REL_WHEEL, REL_HWHEEL}};
}

DeviceAbilities pointer(int width, int height) {
    return {.name = "svc stream pointer",
            .keys = mouse_buttons,
            .absolute = {{ABS_X, 0, width - 1}, {ABS_Y, 0, height - 1}}};
}

DeviceAbilities panel(int width, int height, int slots) {
    return {.name = "svc stream touch panel",
            .keys = {BTN_TOUCH},
            .absolute = {{ABS_X, 0, width - 1},
                         {ABS_Y, 0, height - 1},
                         {ABS_MT_SLOT, 0, slots - 1},
                         {ABS_MT_TRACKING_ID, 0, most_touch_id},
                         {ABS_MT_POSITION_X, 0, width - 1},
                         {ABS_MT_POSITION_Y, 0, height - 1}},
            .is_touch_panel = true};
}

int on(double place, int size) {
    return static_cast<int>(std::floor(std::clamp(place, 0.0, static_cast<double>(size - 1))));
}

// Keys of a US keyboard, the default layout of guests.
bool is_letter(char32_t character) {
    return (character >= U'a' && character <= U'z') || (character >= U'A' && character <= U'Z');
}

struct Stroke {
    int key = 0;
    bool shift = false;
};
Stroke stroke_of(char32_t character) {
    constexpr std::u32string_view plain = U"1234567890-=\tqwertyuiop[]\nasdfghjkl;'`\\zxcvbnm,./ ";
    constexpr std::u32string_view shifted = U"!@#$%^&*()_+\tQWERTYUIOP{}\nASDFGHJKL:\"~|ZXCVBNM<>? ";
    constexpr std::array<int, plain.size()> keys{
        KEY_1,         KEY_2,          KEY_3,         KEY_4,          KEY_5,     KEY_6,   KEY_7,
        KEY_8,         KEY_9,          KEY_0,         KEY_MINUS,      KEY_EQUAL, KEY_TAB, KEY_Q,
        KEY_W,         KEY_E,          KEY_R,         KEY_T,          KEY_Y,     KEY_U,   KEY_I,
        KEY_O,         KEY_P,          KEY_LEFTBRACE, KEY_RIGHTBRACE, KEY_ENTER, KEY_A,   KEY_S,
        KEY_D,         KEY_F,          KEY_G,         KEY_H,          KEY_J,     KEY_K,   KEY_L,
        KEY_SEMICOLON, KEY_APOSTROPHE, KEY_GRAVE,     KEY_BACKSLASH,  KEY_Z,     KEY_X,   KEY_C,
        KEY_V,         KEY_B,          KEY_N,         KEY_M,          KEY_COMMA, KEY_DOT, KEY_SLASH,
        KEY_SPACE};
    static_assert(plain.size() == shifted.size());
    if (const auto at = plain.find(character); at != plain.npos) return {keys[at], false};
    if (const auto at = shifted.find(character); at != shifted.npos) return {keys[at], true};
    return {};
}

}  // namespace

DeviceInput::DeviceInput(DeviceMaker make, int width, int height)
    : make_(std::move(make)),
      width_(width),
      height_(height),
      keyboard_(make_(keyboard())),
      mouse_(make_(mouse())),
      pads_(make_) {
    make_sized();
}

void DeviceInput::make_sized() {
    pointer_ = make_(pointer(width_, height_));
    panel_ = make_(panel(width_, height_, max_slots));
}

void DeviceInput::move(double x, double y) {
    pointer_->emit(EV_ABS, ABS_X, on(x, width_));
    pointer_->emit(EV_ABS, ABS_Y, on(y, height_));
    pointer_->report();
}

void DeviceInput::move_by(int dx, int dy) {
    mouse_->emit(EV_REL, REL_X, dx);
    mouse_->emit(EV_REL, REL_Y, dy);
    mouse_->report();
}

void DeviceInput::button(int button, bool pressed) {
    const int code = linux_button(button);
    if (pressed ? !buttons_.insert(code).second : buttons_.erase(code) == 0) return;
    mouse_->emit(EV_KEY, code, pressed ? 1 : 0);
    mouse_->report();
}

void DeviceInput::wheel(int x, int y) {
    if (y != 0) mouse_->emit(EV_REL, REL_WHEEL, y);
    if (x != 0) mouse_->emit(EV_REL, REL_HWHEEL, x);
    mouse_->report();
}

void DeviceInput::place_touch(int slot, double x, double y) {
    panel_->emit(EV_ABS, ABS_MT_POSITION_X, on(x, width_));
    panel_->emit(EV_ABS, ABS_MT_POSITION_Y, on(y, height_));
    const bool is_first = (touches_.to_ulong() & ((1UL << static_cast<unsigned>(slot)) - 1)) == 0;
    if (!is_first) return;  // the single-touch axes follow the lowest slot
    panel_->emit(EV_ABS, ABS_X, on(x, width_));
    panel_->emit(EV_ABS, ABS_Y, on(y, height_));
}

void DeviceInput::touch_start(int slot, double x, double y) {
    const bool first = touches_.none();
    touches_.set(static_cast<std::size_t>(slot));
    panel_->emit(EV_ABS, ABS_MT_SLOT, slot);
    panel_->emit(EV_ABS, ABS_MT_TRACKING_ID, next_touch_);
    next_touch_ = (next_touch_ + 1) % most_touch_id;
    if (first) panel_->emit(EV_KEY, BTN_TOUCH, 1);
    place_touch(slot, x, y);
    panel_->report();
}

void DeviceInput::touch_move(int slot, double x, double y) {
    if (!touches_.test(static_cast<std::size_t>(slot))) return;
    panel_->emit(EV_ABS, ABS_MT_SLOT, slot);
    place_touch(slot, x, y);
    panel_->report();
}

void DeviceInput::touch_end(int slot) {
    if (!touches_.test(static_cast<std::size_t>(slot))) return;
    touches_.reset(static_cast<std::size_t>(slot));
    panel_->emit(EV_ABS, ABS_MT_SLOT, slot);
    panel_->emit(EV_ABS, ABS_MT_TRACKING_ID, -1);
    if (touches_.none()) panel_->emit(EV_KEY, BTN_TOUCH, 0);
    panel_->report();
}

void DeviceInput::key(int linux_code, bool pressed) {
    if (linux_code <= 0 || linux_code > last_keyboard_key) return;
    if (pressed ? !keys_.insert(linux_code).second : keys_.erase(linux_code) == 0) return;
    if (linux_code == KEY_CAPSLOCK && pressed) caps_lock_ = !caps_lock_;
    press(linux_code, pressed);
}

void DeviceInput::press(int key, bool pressed) {
    keyboard_->emit(EV_KEY, key, pressed ? 1 : 0);
    keyboard_->report();
}

// Characters without a key on this keyboard are skipped.
void DeviceInput::text(const std::string& utf8) {
    for (const char32_t character : characters_of(utf8)) {
        const Stroke stroke = stroke_of(character);
        if (stroke.key == 0) continue;
        const bool shift = stroke.shift != (caps_lock_ && is_letter(character));
        if (shift) press(KEY_LEFTSHIFT, true);
        press(stroke.key, true);
        press(stroke.key, false);
        if (shift) press(KEY_LEFTSHIFT, false);
    }
}

void DeviceInput::gamepad_button(int pad, int index, bool pressed) {
    pads_.button(pad, index, pressed);
}

void DeviceInput::gamepad_axis(int pad, int index, double value) {
    pads_.axis(pad, index, value);
}

void DeviceInput::resized(int width, int height) {
    if (width == width_ && height == height_) return;
    release_all();
    width_ = width;
    height_ = height;
    make_sized();
}

void DeviceInput::release_all() {
    for (std::size_t slot = 0; slot < max_slots; ++slot) touch_end(static_cast<int>(slot));
    for (const int code : std::exchange(keys_, {})) press(code, false);
    for (const int code : std::exchange(buttons_, {})) mouse_->emit(EV_KEY, code, 0);
    mouse_->report();
    pads_.remove_all();
}

std::unique_ptr<InputSink> make_uinput_input(int width, int height) {
    return std::make_unique<DeviceInput>(make_uinput_device, width, height);
}

}  // namespace svc::streamer

#include "instance-agent/streamer/input/client_input.h"

#include <linux/input-event-codes.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libsvc/base/error.h"

namespace svc::streamer {

namespace {

constexpr double most_coordinate = 100'000;
constexpr int most_movement = 100'000;
constexpr std::size_t most_text = 4096;
constexpr int most_repeats = 100;
enum class KeyboardEvent { text = 1, keycode = 2, action = 3, composing_text = 4, composing_region = 5 };

[[noreturn]] void refuse(std::string_view key) {
    throw_invalid(key, "missing or out of range");
}

double coordinate(const JsonFields& data, std::string_view key) {
    const auto value = data.number(key);
    if (!value || !std::isfinite(*value) || std::abs(*value) > most_coordinate) refuse(key);
    return *value;
}

// Clients may write whole numbers as 1.0.
int whole(const JsonFields& data, std::string_view key, int least, int most) {
    const auto value = data.number(key);
    if (!value || *value < least || *value > most || *value != std::trunc(*value)) refuse(key);
    return static_cast<int>(*value);
}

bool truth(const JsonFields& data, std::string_view key) {
    const auto value = data.boolean(key);
    if (!value) refuse(key);
    return *value;
}

std::string text_of(const JsonFields& data) {
    std::string text = data.require_string("text");
    if (text.size() > most_text) refuse("text");
    return text;
}

// Keys of a phone's screen keyboard, by Android's key codes.
int android_key(int code) {
    constexpr std::array<std::pair<int, int>, 11> keys{{{4, KEY_BACK},
                                                        {19, KEY_UP},
                                                        {20, KEY_DOWN},
                                                        {21, KEY_LEFT},
                                                        {22, KEY_RIGHT},
                                                        {61, KEY_TAB},
                                                        {62, KEY_SPACE},
                                                        {66, KEY_ENTER},
                                                        {67, KEY_BACKSPACE},
                                                        {111, KEY_ESC},
                                                        {112, KEY_DELETE}}};
    for (const auto& [android, key] : keys)
        if (android == code) return key;
    return 0;
}

std::size_t characters(std::string_view utf8) {
    return static_cast<std::size_t>(
        std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

struct ClientInput::Entry {
    std::string_view type;
    Handler handler;
};

void ClientInput::apply(std::string_view type, const JsonFields& data) {
    constexpr std::array<Entry, 11> entries{{{"input::mouse-move", &ClientInput::mouse_move},
                                             {"input::mouse-button", &ClientInput::mouse_button},
                                             {"input::mouse-wheel", &ClientInput::mouse_wheel},
                                             {"input::touch-start", &ClientInput::touch_start},
                                             {"input::touch-move", &ClientInput::touch_move},
                                             {"input::touch-end", &ClientInput::touch_end},
                                             {"input::touch-cancel", &ClientInput::touch_end},
                                             {"input::key", &ClientInput::key},
                                             {"input::gamepad-button", &ClientInput::gamepad_button},
                                             {"input::gamepad-axes", &ClientInput::gamepad_axis},
                                             {"input::ime-event", &ClientInput::screen_keyboard}}};
    for (const Entry& entry : entries)
        if (entry.type == type) return (this->*entry.handler)(data);
    throw_invalid("type", "unknown");
}

// Without a position the pointer is locked: only the movement counts.
void ClientInput::mouse_move(const JsonFields& data) {
    if (data.raw("x") != nullptr || data.raw("y") != nullptr) {
        const double x = coordinate(data, "x"), y = coordinate(data, "y");
        return sink_.move(x, y);
    }
    const int dx = whole(data, "rx", -most_movement, most_movement);
    sink_.move_by(dx, whole(data, "ry", -most_movement, most_movement));
}

void ClientInput::mouse_button(const JsonFields& data) {
    const int button = whole(data, "button", 1, 16);
    sink_.button(button, truth(data, "pressed"));
}

void ClientInput::mouse_wheel(const JsonFields& data) {
    const int x = data.raw("x") != nullptr ? whole(data, "x", -16, 16) : 0;
    const int y = data.raw("y") != nullptr ? whole(data, "y", -16, 16) : 0;
    sink_.wheel(x, y);
}

void ClientInput::touch_start(const JsonFields& data) {
    const int slot = whole(data, "id", 0, max_touches - 1);
    const double x = coordinate(data, "x"), y = coordinate(data, "y");
    touches_.set(static_cast<std::size_t>(slot));
    sink_.touch_start(slot, x, y);
}

void ClientInput::touch_move(const JsonFields& data) {
    const int slot = whole(data, "id", 0, max_touches - 1);
    const double x = coordinate(data, "x"), y = coordinate(data, "y");
    if (touches_.test(static_cast<std::size_t>(slot))) sink_.touch_move(slot, x, y);
}

void ClientInput::touch_end(const JsonFields& data) {
    const int slot = whole(data, "id", 0, max_touches - 1);
    if (!touches_.test(static_cast<std::size_t>(slot))) return;
    touches_.reset(static_cast<std::size_t>(slot));
    sink_.touch_end(slot);
}

void ClientInput::key(const JsonFields& data) {
    if (data.raw("code") == nullptr) return;  // a key without a code
    const int code = linux_key(whole(data, "code", 0, 1023));
    const bool pressed = truth(data, "pressed");
    if (code != 0) sink_.key(code, pressed);
}

void ClientInput::gamepad_button(const JsonFields& data) {
    const int pad = whole(data, "id", 0, 3), index = whole(data, "index", 0, 16);
    sink_.gamepad_button(pad, index, truth(data, "pressed"));
}

void ClientInput::gamepad_axis(const JsonFields& data) {
    const int pad = whole(data, "id", 0, 3), index = whole(data, "index", 0, 5);
    const auto value = data.number("value");
    if (!value || !(*value >= -1 && *value <= 1)) refuse("value");
    sink_.gamepad_axis(pad, index, *value);
}

// These clients put the members of an event into a nested object.
void ClientInput::screen_keyboard(const JsonFields& data) {
    const int event = whole(data, "type", 1, 5);
    const Json* const inner = data.raw("data");
    if (inner == nullptr) return screen_key(event, data);
    if (!inner->is_object()) refuse("data");
    screen_key(event, JsonFields(*inner));
}

void ClientInput::screen_key(int event, const JsonFields& data) {
    switch (static_cast<KeyboardEvent>(event)) {
        case KeyboardEvent::text: {
            const std::string text = text_of(data);
            compose("");
            return sink_.text(text);
        }
        case KeyboardEvent::keycode: {
            const int code = android_key(whole(data, "code", 0, 1023));
            const int times = data.raw("times") != nullptr ? whole(data, "times", 1, most_repeats) : 1;
            for (int i = 0; code != 0 && i < times; ++i) press(code);
            return;
        }
        case KeyboardEvent::action:
            return press(KEY_ENTER);  // "go", "search", "done": the keyboard's Enter key
        case KeyboardEvent::composing_text:
            return compose(text_of(data));
        case KeyboardEvent::composing_region:
            return;  // programs without an input method have no composing regions
    }
}

// A text that is not final is typed, and deleted again when it changes.
void ClientInput::compose(const std::string& text) {
    for (; composed_ > 0; --composed_) press(KEY_BACKSPACE);
    if (!text.empty()) sink_.text(text);
    composed_ = characters(text);
}

void ClientInput::press(int linux_code) {
    sink_.key(linux_code, true);
    sink_.key(linux_code, false);
}

void ClientInput::release_all() {
    touches_.reset();
    composed_ = 0;
    sink_.release_all();
}

}  // namespace svc::streamer

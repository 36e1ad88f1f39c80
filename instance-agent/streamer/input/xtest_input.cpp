// An InputSink for an X server, by its extension XTEST.
#include <X11/XKBlib.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "instance-agent/streamer/display/x_connection.h"
#include "instance-agent/streamer/input/input.h"
#include "instance-agent/streamer/input/utf8.h"
#include "libsvc/base/error.h"

namespace svc::streamer {

namespace {

constexpr int evdev_offset = 8;  // X keycode = Linux code + 8 (the evdev rules)
constexpr int max_keycode = 255;
constexpr int first_wheel_button = 4, buttons_of_wheels = 4;

// X has wheel steps as buttons 4 to 7; extra buttons come after them.
unsigned x_button(int button) {
    return static_cast<unsigned>(button < first_wheel_button ? button : button + buttons_of_wheels);
}

KeySym keysym_of(char32_t character) {
    if (character == '\n' || character == '\r') return XK_Return;
    if (character == '\t') return XK_Tab;
    if (character == '\b') return XK_BackSpace;
    if ((character >= 0x20 && character <= 0x7e) || (character >= 0xa0 && character <= 0xff))
        return character;
    return character < 0x20 || character == 0x7f ? NoSymbol : 0x01000000 + character;
}

// Switches the guest's Caps Lock off while text is typed, and back on at the end.
class CapsLockOff {
  public:
    explicit CapsLockOff(Display* display) : display_(display) {
        XkbStateRec state{};
        if (XkbGetState(display_, XkbUseCoreKbd, &state) != Success) return;
        was_on_ = (state.locked_mods & LockMask) != 0;
        if (was_on_) set(0);
    }
    ~CapsLockOff() {
        if (was_on_) set(LockMask);
    }
    CapsLockOff(const CapsLockOff&) = delete;
    CapsLockOff& operator=(const CapsLockOff&) = delete;

  private:
    void set(unsigned modifiers) { XkbLockModifiers(display_, XkbUseCoreKbd, LockMask, modifiers); }
    Display* const display_;
    bool was_on_ = false;
};

class XtestInput final : public InputSink {
  public:
    explicit XtestInput(const std::string& display) : connection_(display) {
        int ignored = 0;
        if (XTestQueryExtension(x(), &ignored, &ignored, &ignored, &ignored) == 0)
            throw Error(ErrorCode::unsupported, "X server has no XTEST extension");
        XTestGrabControl(x(), True);  // input works also while a program grabs the server
        resized(DisplayWidth(x(), screen()), DisplayHeight(x(), screen()));
        find_spare_keycodes();
    }

    void move(double x_place, double y_place) override {
        const auto on = [](double place, int size) {
            return static_cast<int>(std::floor(std::clamp(place, 0.0, static_cast<double>(size - 1))));
        };
        XTestFakeMotionEvent(x(), screen(), on(x_place, width_), on(y_place, height_), CurrentTime);
        XFlush(x());
    }
    void move_by(int dx, int dy) override {
        XTestFakeRelativeMotionEvent(x(), dx, dy, CurrentTime);
        XFlush(x());
    }
    void button(int button, bool pressed) override {
        if (pressed ? !buttons_.insert(button).second : buttons_.erase(button) == 0) return;
        fake_button(x_button(button), pressed);
        XFlush(x());
    }
    void wheel(int x_steps, int y_steps) override {
        turn(y_steps > 0 ? 4 : 5, y_steps);
        turn(x_steps < 0 ? 6 : 7, x_steps);
        XFlush(x());
    }

    // XTEST has no touches: the first finger moves the pointer.
    void touch_start(int slot, double x_place, double y_place) override {
        if (finger_ >= 0) return;
        finger_ = slot;
        move(x_place, y_place);
        button(1, true);
    }
    void touch_move(int slot, double x_place, double y_place) override {
        if (slot == finger_) move(x_place, y_place);
    }
    void touch_end(int slot) override {
        if (slot != finger_) return;
        finger_ = -1;
        button(1, false);
    }

    // The server itself repeats a key that is held.
    void key(int linux_code, bool pressed) override {
        const int code = linux_code + evdev_offset;
        if (linux_code <= 0 || code > max_keycode) return;
        if (pressed ? !keys_.insert(code).second : keys_.erase(code) == 0) return;
        fake_key(code, pressed);
        XFlush(x());
    }
    void text(const std::string& utf8) override {
        const CapsLockOff as_written(x());
        for (const char32_t character : characters_of(utf8))
            if (const KeySym symbol = keysym_of(character); symbol != NoSymbol) type(symbol);
        XFlush(x());
    }

    void gamepad_button(int, int, bool) override {}  // XTEST has no gamepads
    void gamepad_axis(int, int, double) override {}
    void resized(int width, int height) override {
        width_ = width;
        height_ = height;
    }
    void release_all() override {
        finger_ = -1;
        for (const int button : std::exchange(buttons_, {})) fake_button(x_button(button), false);
        for (const int code : std::exchange(keys_, {})) fake_key(code, false);
        XFlush(x());
    }

  private:
    Display* x() const { return connection_.get(); }
    int screen() const { return DefaultScreen(x()); }

    void fake_button(unsigned button, bool pressed) {
        XTestFakeButtonEvent(x(), button, pressed ? True : False, CurrentTime);
    }
    void fake_key(int code, bool pressed) {
        XTestFakeKeyEvent(x(), static_cast<unsigned>(code), pressed ? True : False, CurrentTime);
    }
    void turn(unsigned button, int steps) {
        for (int i = 0; i < std::abs(steps); ++i) {
            fake_button(button, true);
            fake_button(button, false);
        }
    }

    // Keycodes that the keymap leaves free.
    void find_spare_keycodes() {
        int least = 0, most = 0, per_code = 0;
        XDisplayKeycodes(x(), &least, &most);
        KeySym* const symbols =
            XGetKeyboardMapping(x(), static_cast<KeyCode>(least), most - least + 1, &per_code);
        for (int code = least; symbols != nullptr && code <= most; ++code) {
            const KeySym* const row = symbols + static_cast<std::ptrdiff_t>(code - least) * per_code;
            if (std::all_of(row, row + per_code, [](KeySym symbol) { return symbol == NoSymbol; }))
                spare_.push_back(code);
        }
        XFree(symbols);
    }

    void type(KeySym symbol) {
        bool shifted = false;
        int code = code_of(symbol, shifted);
        if (code == 0) code = lend_keycode(symbol);
        if (code == 0) return;
        const int shift = XKeysymToKeycode(x(), XK_Shift_L);
        if (shifted) fake_key(shift, true);
        fake_key(code, true);
        fake_key(code, false);
        if (shifted) fake_key(shift, false);
    }

    int code_of(KeySym symbol, bool& shifted) {
        const auto lent =
            std::find_if(lent_.begin(), lent_.end(), [&](const auto& one) { return one.first == symbol; });
        if (lent != lent_.end()) return lent->second;
        const KeyCode code = XKeysymToKeycode(x(), symbol);
        if (code == 0) return 0;
        if (XkbKeycodeToKeysym(x(), code, 0, 0) == symbol) return code;
        shifted = XkbKeycodeToKeysym(x(), code, 0, 1) == symbol;
        return shifted ? code : 0;
    }

    // A keycode keeps its symbol until all other free ones were used: programs look up the symbol later.
    int lend_keycode(KeySym symbol) {
        if (spare_.empty()) return 0;
        const int code = spare_[next_spare_++ % spare_.size()];
        lent_.erase(
            std::remove_if(lent_.begin(), lent_.end(), [&](const auto& one) { return one.second == code; }),
            lent_.end());
        KeySym symbols[2] = {symbol, symbol};
        XChangeKeyboardMapping(x(), code, 2, symbols, 1);
        XSync(x(), False);
        lent_.emplace_back(symbol, code);
        return code;
    }

    XConnection connection_;
    int width_ = 0, height_ = 0;
    int finger_ = -1;               // the touch slot that moves the pointer
    std::set<int> keys_, buttons_;  // keys and buttons that are down
    std::vector<int> spare_;
    std::vector<std::pair<KeySym, int>> lent_;
    std::size_t next_spare_ = 0;
};

}  // namespace

std::unique_ptr<InputSink> make_xtest_input(const std::string& display) {
    return std::make_unique<XtestInput>(display);
}

}  // namespace svc::streamer

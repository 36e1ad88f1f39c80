#include <linux/input-event-codes.h>

#include <array>

#include "instance-agent/streamer/input/input.h"

namespace svc::streamer {

namespace {

constexpr int first_code = 4;
// Linux codes for the client's codes from 4 on. Up to 82 the client's codes are USB HID usages, except 50
// to 53. 0: no key.
constexpr std::array<int, 89> linux_keys{
    // letters
    KEY_A, KEY_B, KEY_C, KEY_D, KEY_E, KEY_F, KEY_G, KEY_H, KEY_I, KEY_J, KEY_K, KEY_L, KEY_M, KEY_N, KEY_O,
    KEY_P, KEY_Q, KEY_R, KEY_S, KEY_T, KEY_U, KEY_V, KEY_W, KEY_X, KEY_Y, KEY_Z,
    // digits from 30
    KEY_1, KEY_2, KEY_3, KEY_4, KEY_5, KEY_6, KEY_7, KEY_8, KEY_9, KEY_0,
    // from 40
    KEY_ENTER, KEY_ESC, KEY_BACKSPACE, KEY_TAB, KEY_SPACE, KEY_MINUS, KEY_EQUAL, KEY_LEFTBRACE,
    KEY_RIGHTBRACE, KEY_BACKSLASH, KEY_APOSTROPHE, KEY_SEMICOLON, 0, 0, KEY_COMMA, KEY_DOT, KEY_SLASH,
    KEY_CAPSLOCK,
    // from 58
    KEY_F1, KEY_F2, KEY_F3, KEY_F4, KEY_F5, KEY_F6, KEY_F7, KEY_F8, KEY_F9, KEY_F10, KEY_F11, KEY_F12,
    // from 70
    KEY_SYSRQ, KEY_SCROLLLOCK, KEY_PAUSE, KEY_INSERT, KEY_HOME, KEY_PAGEUP, KEY_DELETE, KEY_END, KEY_PAGEDOWN,
    KEY_RIGHT, KEY_LEFT, KEY_DOWN, KEY_UP,
    // from 83
    KEY_LEFTCTRL, KEY_LEFTSHIFT, KEY_LEFTALT, KEY_LEFTMETA, KEY_RIGHTALT, KEY_NUMLOCK, KEY_VOLUMEDOWN,
    KEY_VOLUMEUP, KEY_POWER, KEY_BACK};

}  // namespace

int linux_key(int client_code) {
    const int index = client_code - first_code;
    if (index < 0 || index >= static_cast<int>(linux_keys.size())) return 0;
    return linux_keys[static_cast<std::size_t>(index)];
}

}  // namespace svc::streamer

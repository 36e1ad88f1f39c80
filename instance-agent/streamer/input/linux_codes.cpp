#include "instance-agent/streamer/input/linux_codes.h"

#include <algorithm>

namespace svc::streamer {

int linux_button(int button) {
    constexpr int first_extra_button = 4;
    switch (button) {
        case 1:
            return BTN_LEFT;
        case 2:
            return BTN_MIDDLE;
        case 3:
            return BTN_RIGHT;
        default:
            return std::min(BTN_SIDE + button - first_extra_button, BTN_TASK);
    }
}

}  // namespace svc::streamer

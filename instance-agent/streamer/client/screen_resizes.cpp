#include "instance-agent/streamer/client/screen_resizes.h"

#include <utility>

namespace svc::streamer {

void ScreenResizes::ask(const ScreenWish& wish) {
    next_ = wish;
    if (!pauses_) apply_next();
}

void ScreenResizes::apply_next() {
    pauses_ = false;
    const auto wish = std::exchange(next_, std::nullopt);
    if (!wish) return;
    pauses_ = true;
    queue_.after(pause, [this] { apply_next(); });
    apply_(*wish);
}

}  // namespace svc::streamer

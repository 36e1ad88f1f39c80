#include "instance-agent/streamer/display/display_loss.h"

#include <X11/Xlib.h>

#include <mutex>
#include <utility>

namespace svc::streamer {
namespace {

// Held while the listener is called: who takes it back knows that it does not run any more.
std::mutex& listening() {
    static std::mutex mutex;
    return mutex;
}
std::function<void()>& listener() {
    static std::function<void()> say;
    return say;
}

int display_lost(Display*) {
    std::lock_guard lock(listening());
    if (const auto say = std::exchange(listener(), {})) say();
    return 0;
}

}  // namespace

void on_display_lost(std::function<void()> say) {
    std::lock_guard lock(listening());
    listener() = std::move(say);
    XSetIOErrorHandler(display_lost);
}

}  // namespace svc::streamer

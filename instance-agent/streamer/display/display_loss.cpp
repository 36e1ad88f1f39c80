#include "instance-agent/streamer/display/display_loss.h"

#include <X11/Xlib.h>

#include <mutex>
#include <shared_mutex>
#include <utility>

namespace svc::streamer {
namespace {

// Callers hold it shared, because one call may wait for another; the destructor takes it exclusively, so that
// no call runs afterwards.
std::shared_mutex& listening() {
    static std::shared_mutex mutex;
    return mutex;
}
std::function<void()>& listener() {
    static std::function<void()> say;
    return say;
}

void listen(std::function<void()> say) {
    std::unique_lock lock(listening());
    listener() = std::move(say);
}

int display_lost(Display*) {
    std::shared_lock lock(listening());
    if (const auto say = listener()) say();
    return 0;
}

}  // namespace

DisplayLoss::DisplayLoss(std::function<void()> say) {
    listen(std::move(say));
    XSetIOErrorHandler(display_lost);
}

DisplayLoss::~DisplayLoss() {
    listen({});
}

}  // namespace svc::streamer

#include "instance-agent/streamer/media/video/screen_gate.h"

namespace svc::streamer {

ScreenGate::ScreenGate(const std::string& display, int fps, std::shared_ptr<FramePace> pace)
    : watch_(display, ScreenWatch::Duration(std::chrono::seconds(1)) / fps), pace_(std::move(pace)) {}

// The source keeps the frame rate by itself: released after a pause, it captures at once.
bool ScreenGate::let_through() {
    const auto now = FramePace::Moment::clock::now();
    if (watch_.take_change()) pace_->changed(now);
    if (pace_->is_wanted(now)) {
        pace_->sent(now);
        return true;
    }
    if (!stopped_) watch_.wait(pace_->next(now) - now);
    return false;
}

void ScreenGate::stop() {
    stopped_ = true;
    watch_.wake();
}

}  // namespace svc::streamer

#include "libsvc/operations/work_state.h"

#include <utility>

namespace svc {

void WorkState::ask_to_stop() {
    std::function<void()> on_stop;
    {
        std::lock_guard lock(mutex_);
        stop_asked_ = true;
        on_stop = std::exchange(on_stop_, nullptr);
    }
    stop_.request_stop();
    if (on_stop) on_stop();
}

void WorkState::enter_run() {
    std::lock_guard lock(mutex_);
    in_run_ = true;
}

std::optional<LastStep> WorkState::leave_run(LastStep own, bool failed) {
    const bool detached = [this] {
        std::lock_guard lock(mutex_);
        return detached_;
    }();
    if (failed || !detached) first_end_(std::move(own));
    std::lock_guard lock(mutex_);
    in_run_ = false;
    return std::exchange(last_step_, std::nullopt);
}

void WorkState::detach(std::function<void()> on_stop) {
    {
        std::lock_guard lock(mutex_);
        detached_ = true;
        if (!stop_asked_) on_stop_ = std::exchange(on_stop, nullptr);
    }
    if (on_stop) on_stop();  // it was asked to stop before
}

void WorkState::complete(LastStep step) {
    {
        std::lock_guard lock(mutex_);
        if (!dispatch_) return;
    }
    first_end_(std::move(step));
}

void WorkState::keep(LastStep step) {
    // May hold the last reference to the completion, whose destructor calls complete(): freed after the lock.
    std::function<void()> dropped;
    std::lock_guard lock(mutex_);
    dropped.swap(on_stop_);
    last_step_ = std::move(step);
    if (!in_run_ && dispatch_) dispatch_();
}

std::optional<LastStep> WorkState::take_last_step() {
    std::lock_guard lock(mutex_);
    return std::exchange(last_step_, std::nullopt);
}

void WorkState::disconnect() {
    std::lock_guard lock(mutex_);
    dispatch_ = nullptr;
}

}  // namespace svc

#include "libsvc/operations/final_listeners.h"

#include <exception>
#include <utility>

#include "libsvc/base/log.h"

namespace svc {

void FinalListener::call(OperationPtr record) {
    try {
        done_(std::move(record));
    } catch (const std::exception& e) {
        log::error("telling of an operation's end failed", {{"error", e.what()}});
    }
}

bool FinalListener::keep_timeout(Timer::Ticket ticket) {
    ticket_ = ticket;
    return !done_.used();
}

bool FinalListeners::add(std::shared_ptr<FinalListener> listener) {
    std::lock_guard lock(mutex_);
    if (told_) return false;
    listeners_.push_back(std::move(listener));
    return true;
}

void FinalListeners::remove(const std::shared_ptr<FinalListener>& listener) {
    std::lock_guard lock(mutex_);
    std::erase(listeners_, listener);
}

std::vector<std::shared_ptr<FinalListener>> FinalListeners::take() {
    std::lock_guard lock(mutex_);
    told_ = true;
    return std::exchange(listeners_, {});
}

void FinalListeners::tell(const OperationPtr& record, Timer& timer) {
    for (const auto& listener : take()) {
        listener->call(record);
        if (const auto ticket = listener->timeout()) timer.cancel(ticket);
    }
}

}  // namespace svc

#include "libsvc/events/event_window.h"

#include <algorithm>
#include <utility>

#include "libsvc/events/event_log.h"

namespace svc {

EventWindow::EventWindow(EventWindowOptions options) : options_(std::move(options)) {
    if (options_.directory.empty()) return;
    log_ = std::make_unique<EventLog>(options_, [this](Event event) { keep(std::move(event)); });
    last_ = log_->last();
}

EventWindow::~EventWindow() = default;

void EventWindow::raise(std::uint64_t last) {
    last_ = std::max(last_, last);
}

void EventWindow::add(Event event) {
    last_ = event.sequence;
    if (log_) log_->append(event);
    keep(std::move(event));
    if (log_) log_->forget_before(events_.front().sequence);
}

void EventWindow::keep(Event event) {
    bytes_ += event.text->size();
    events_.push_back(std::move(event));
    trim();
}

// The newest one stays, whatever its size.
void EventWindow::trim() {
    while (events_.size() > 1 && (events_.size() > options_.max_events || bytes_ > options_.max_bytes)) {
        bytes_ -= events_.front().text->size();
        events_.pop_front();
    }
}

std::string EventWindow::take_fault() {
    return log_ ? log_->take_fault() : std::string();
}

}  // namespace svc

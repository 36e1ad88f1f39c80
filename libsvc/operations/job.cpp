#include "libsvc/operations/job.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/log.h"

namespace svc {

void Waiter::fire(OperationPtr record) {
    std::function<void(OperationPtr)> done;
    {
        std::lock_guard lock(mutex_);
        done = std::exchange(done_, nullptr);
    }
    if (!done) return;
    try {
        done(std::move(record));
    } catch (const std::exception& e) {
        log::error("telling of an operation's end failed", {{"error", e.what()}});
    }
}

bool Waiter::keep_ticket(Timer::Ticket ticket) {
    std::lock_guard lock(mutex_);
    ticket_ = ticket;
    return done_ != nullptr;
}

Timer::Ticket Waiter::ticket() const {
    std::lock_guard lock(mutex_);
    return ticket_;
}

Job::Job(OperationPtr record, const OperationHandler* handler, Dispatch dispatch)
    : id(record->id.str()), handler(handler), record_(std::move(record)), dispatch_(std::move(dispatch)) {}

OperationPtr Job::record() const {
    std::lock_guard lock(mutex_);
    return record_;
}

void Job::set_record(OperationPtr record) {
    std::lock_guard lock(mutex_);
    record_.swap(record);  // the old one is freed after the lock
}

void Job::ask_to_stop() {
    std::function<void()> on_stop;
    {
        std::lock_guard lock(mutex_);
        stop_asked_ = true;
        on_stop = std::exchange(on_stop_, nullptr);
    }
    stop_.request_stop();
    if (on_stop) on_stop();
}

void Job::enter_run() {
    std::lock_guard lock(mutex_);
    in_run_ = true;
}

std::optional<Ending> Job::leave_run(Ending own, bool failed) {
    std::function<void()>
        dropped;  // may hold the last completion, whose end comes back here: freed after the lock
    std::lock_guard lock(mutex_);
    in_run_ = false;
    if (!completed_ && (failed || !detached_)) {
        completed_ = true;
        dropped.swap(on_stop_);
        ending_ = std::move(own);
    }
    return std::exchange(ending_, std::nullopt);
}

void Job::detach(std::function<void()> on_stop) {
    {
        std::lock_guard lock(mutex_);
        detached_ = true;
        if (!stop_asked_) on_stop_ = std::exchange(on_stop, nullptr);
    }
    if (on_stop) on_stop();  // it was stopped before
}

void Job::complete(Ending ending) {
    std::function<void()> dropped;
    std::lock_guard lock(mutex_);
    if (completed_ || !dispatch_) return;
    completed_ = true;
    dropped.swap(on_stop_);
    ending_ = std::move(ending);
    if (!in_run_) dispatch_(shared_from_this());
}

std::optional<Ending> Job::take_ending() {
    std::lock_guard lock(mutex_);
    return std::exchange(ending_, std::nullopt);
}

void Job::disconnect() {
    std::lock_guard lock(mutex_);
    dispatch_ = nullptr;
}

bool Job::add_waiter(std::shared_ptr<Waiter> waiter) {
    std::lock_guard lock(mutex_);
    if (told_) return false;
    waiters_.push_back(std::move(waiter));
    return true;
}

void Job::drop_waiter(const std::shared_ptr<Waiter>& waiter) {
    std::lock_guard lock(mutex_);
    waiters_.erase(std::remove(waiters_.begin(), waiters_.end(), waiter), waiters_.end());
}

std::vector<std::shared_ptr<Waiter>> Job::take_waiters() {
    std::lock_guard lock(mutex_);
    told_ = true;
    return std::exchange(waiters_, {});
}

}  // namespace svc

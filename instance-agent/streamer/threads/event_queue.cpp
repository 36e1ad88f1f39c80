#include "instance-agent/streamer/threads/event_queue.h"

#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

void run_logged(const EventQueue::Work& work) {
    try {
        work();
    } catch (const std::exception& e) {
        log::error("a piece of work failed", {{"error", e.what()}});
    }
}

}  // namespace

void EventQueue::post(Work work) {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    changed_.notify_all();
}

void EventQueue::post_when_room(std::size_t weight, Work work) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return weight_ < most_weight || stopped_; });
    weight_ += weight;
    posted_.push_back([this, weight, work = std::move(work)] {
        give_room(weight);
        work();
    });
    changed_.notify_all();
}

void EventQueue::give_room(std::size_t weight) {
    std::lock_guard lock(mutex_);
    weight_ -= weight;
    room_.notify_all();
}

void EventQueue::after(Duration delay, Work work) {
    std::lock_guard lock(mutex_);
    later_.emplace(clock_.steady_now() + delay, std::move(work));
    changed_.notify_all();
}

EventQueue::Work EventQueue::take_due() {
    Work work;
    if (!posted_.empty()) {
        work = std::move(posted_.front());
        posted_.pop_front();
    } else if (!later_.empty() && later_.begin()->first <= clock_.steady_now()) {
        work = std::move(later_.begin()->second);
        later_.erase(later_.begin());
    }
    return work;
}

void EventQueue::run() {
    running_ = std::this_thread::get_id();
    std::unique_lock lock(mutex_);
    while (!stopped_) {
        if (const Work work = take_due()) {
            lock.unlock();
            run_logged(work);
            lock.lock();
        } else if (later_.empty()) {
            changed_.wait(lock);
        } else {
            changed_.wait_for(lock, later_.begin()->first - clock_.steady_now());
        }
    }
}

std::size_t EventQueue::run_due() {
    std::size_t count = 0;
    std::unique_lock lock(mutex_);
    while (const Work work = take_due()) {
        lock.unlock();
        run_logged(work);
        ++count;
        lock.lock();
    }
    return count;
}

void EventQueue::stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    room_.notify_all();
}

}  // namespace svc::streamer

#include "libsvc/management/follower.h"

#include <pthread.h>

#include "libsvc/base/log.h"

namespace svc {

Follower::Follower(std::string name, Interval interval, std::function<void()> run)
    : name_(std::move(name)), interval_(std::move(interval)), run_(std::move(run)) {}

Follower::~Follower() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void Follower::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

bool Follower::stop(Duration limit) {
    thread_.request_stop();
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return !running_; });
}

void Follower::run_now() {
    wake(true);
}

void Follower::interval_changed() {
    wake(false);
}

void Follower::wake(bool run) {
    const std::lock_guard lock(mutex_);
    due_ = due_ || run;
    restarted_ = true;
    changed_.notify_all();
}

void Follower::follow(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), name_.c_str());
    while (wait(stop)) {
        run();
        const std::lock_guard lock(mutex_);
        running_ = false;
        changed_.notify_all();
    }
}

void Follower::run() {
    try {
        run_();
    } catch (const std::exception& e) {
        log::warning("synchronisation failed", {{"of", name_}, {"error", e.what()}});
    }
}

// True when it is time to run, false at the end.
bool Follower::wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (due_) {
            due_ = restarted_ = false;
            return running_ = true;
        }
        restarted_ = false;
        if (!changed_.wait_for(lock, stop, interval_(), [this] { return restarted_; })) due_ = true;
    }
    return false;
}

}  // namespace svc

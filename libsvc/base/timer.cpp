#include "libsvc/base/timer.h"

#include <pthread.h>

#include <algorithm>

#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr Duration idle_wait = std::chrono::hours(24);

void run_call(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::exception& e) {
        log::error("timed call failed", {{"error", e.what()}});
    }
}

}  // namespace

Timer::Timer(Clock& clock, std::string name)
    : clock_(clock), name_(std::move(name)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Timer::~Timer() {
    thread_.request_stop();
    std::unique_lock lock(mutex_);
    const std::stop_source round = round_;
    lock.unlock();
    round.request_stop();
    thread_.join();
}

Timer::Ticket Timer::after(Duration delay, std::function<void()> call) {
    const SteadyTime deadline = clock_.steady_now() + std::max(delay, Duration::zero());
    std::unique_lock lock(mutex_);
    const Ticket ticket = ++last_ticket_;
    const bool first = calls_.empty() || deadline < calls_.begin()->first.first;
    calls_.emplace(Key(deadline, ticket), std::move(call));
    deadlines_.emplace(ticket, deadline);
    const std::stop_source round = round_;
    lock.unlock();
    if (first) round.request_stop();
    return ticket;
}

void Timer::cancel(Ticket ticket) {
    std::function<void()> dropped;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    const auto found = deadlines_.find(ticket);
    if (found == deadlines_.end()) return;
    const auto call = calls_.find(Key(found->second, ticket));
    dropped = std::move(call->second);
    calls_.erase(call);
    deadlines_.erase(found);
}

std::size_t Timer::pending() const {
    std::lock_guard lock(mutex_);
    return calls_.size();
}

std::function<void()> Timer::take_due() {
    std::lock_guard lock(mutex_);
    if (calls_.empty() || calls_.begin()->first.first > clock_.steady_now()) return nullptr;
    auto call = std::move(calls_.begin()->second);
    deadlines_.erase(calls_.begin()->first.second);
    calls_.erase(calls_.begin());
    return call;
}

void Timer::run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
    while (!stop.stop_requested()) {
        if (const auto call = take_due()) {
            run_call(call);
            continue;
        }
        std::unique_lock lock(mutex_);
        round_ = std::stop_source();
        const std::stop_token round = round_.get_token();
        const SteadyTime next =
            calls_.empty() ? clock_.steady_now() + idle_wait : calls_.begin()->first.first;
        lock.unlock();
        if (!stop.stop_requested()) clock_.wait_until(round, next);
    }
}

}  // namespace svc

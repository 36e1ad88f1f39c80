#include "libsvc/base/thread_pool.h"

#include <pthread.h>

#include <system_error>

#include "libsvc/base/log.h"

namespace svc {

ThreadPool::ThreadPool(std::string name, std::size_t threads, std::size_t max_queued)
    : name_(std::move(name)), max_threads_(threads), max_queued_(max_queued) {
    threads_.reserve(threads);
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this] { run(); });
    ++idle_;
}

ThreadPool::~ThreadPool() {
    stop();
}

bool ThreadPool::post(Job job) {
    {
        std::lock_guard lock(mutex_);
        if (stopping_ || jobs_.size() >= max_queued_) return false;
        jobs_.push_back(std::move(job));
        start_thread_if_needed();
    }
    wake_.notify_one();
    return true;
}

void ThreadPool::start_thread_if_needed() {
    if (jobs_.size() <= idle_ || threads_.size() >= max_threads_) return;
    try {
        threads_.emplace_back([this] { run(); });
        ++idle_;
    } catch (const std::system_error& e) {  // the job waits for one of the others
        log::warning("a pool has fewer threads than it may have",
                     {{"pool", name_}, {"threads", std::to_string(threads_.size())}, {"error", e.what()}});
    }
}

void ThreadPool::stop() {
    std::vector<std::jthread> threads;
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        threads.swap(threads_);
    }
    wake_.notify_all();
    for (std::jthread& thread : threads) thread.join();
}

std::size_t ThreadPool::queued() const {
    std::lock_guard lock(mutex_);
    return jobs_.size();
}

void ThreadPool::run() {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());  // the kernel keeps 15 characters
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        --idle_;
        lock.unlock();
        carry_out(std::move(job));
        lock.lock();
        ++idle_;
    }
}

// What the job holds is destroyed at the end, without the lock.
void ThreadPool::carry_out(const Job job) const {
    try {
        job();
    } catch (const std::exception& e) {
        log::error("job failed", {{"pool", name_}, {"error", e.what()}});
    }
}

}  // namespace svc

#include "libsvc/base/thread_pool.h"

#include <pthread.h>

#include "libsvc/base/log.h"

namespace svc {

ThreadPool::ThreadPool(std::string name, std::size_t threads, std::size_t max_queued)
    : name_(std::move(name)), max_queued_(max_queued) {
    threads_.reserve(threads);
    try {
        for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (...) {
        stop();  // those that were started wait for jobs, and would be joined for ever
        throw;
    }
}

ThreadPool::~ThreadPool() {
    stop();
}

bool ThreadPool::post(Job job) {
    {
        std::lock_guard lock(mutex_);
        if (stopping_ || jobs_.size() >= max_queued_) return false;
        jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return true;
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
    for (;;) {
        Job job;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        try {
            job();
        } catch (const std::exception& e) {
            log::error("job failed", {{"pool", name_}, {"error", e.what()}});
        }
    }
}

}  // namespace svc

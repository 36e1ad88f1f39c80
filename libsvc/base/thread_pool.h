#pragma once
// A bounded pool of named threads.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace svc {

// Thread-safe. The first thread is started at once, each other one when a job would have to wait. The
// destructor runs the queued jobs, then joins the threads.
class ThreadPool {
  public:
    using Job = std::function<void()>;
    ThreadPool(std::string name, std::size_t threads, std::size_t max_queued);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // False when the queue is full or the pool is stopping. A job that throws is logged.
    [[nodiscard]] bool post(Job job);
    // Refuses new jobs, runs the queued ones, joins the threads. May be called again.
    void stop();
    std::size_t queued() const;

  private:
    void start_thread_if_needed();  // with mutex_ locked
    void run();
    void carry_out(Job job) const;

    std::string name_;
    std::size_t max_threads_, max_queued_;
    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<Job> jobs_;
    std::size_t idle_ = 0;  // threads that wait for a job, or are yet to look for their first one
    bool stopping_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace svc

#pragma once
// The threads of the application service: layers are captured and versions updated here.
#include <functional>
#include <memory>
#include <mutex>

#include "libsvc/base/thread_pool.h"

namespace svc {

// Thread-safe. Two threads. Jobs may use whatever outlives stop().
class ApplicationJobs {
  public:
    using Job = std::function<void()>;
    using Post = std::function<void(Job job)>;

    ApplicationJobs();
    ~ApplicationJobs();
    ApplicationJobs(const ApplicationJobs&) = delete;
    ApplicationJobs& operator=(const ApplicationJobs&) = delete;

    void post(Job job);  // dropped with a line in the log when the queue is full or the service stops
    // For callbacks that other services keep, possibly for longer than this object lives: posts until stop(),
    // does nothing afterwards.
    Post post_function() const;
    void stop();  // runs the queued jobs, then joins; no job is taken afterwards. Idempotent

  private:
    struct Link {
        std::mutex mutex;
        ApplicationJobs* jobs = nullptr;
    };
    std::shared_ptr<Link> link_ = std::make_shared<Link>();
    ThreadPool pool_;
};

}  // namespace svc

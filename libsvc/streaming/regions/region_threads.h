#pragma once
// Threads for calls to regions. Each region has its own, so that a region that is slow, or hangs, does not
// delay the others.
#include <map>
#include <memory>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"

namespace svc {

// Thread-safe. A region's threads begin with its first job.
class RegionThreads {
  public:
    RegionThreads(std::string name, std::size_t of_each);
    ~RegionThreads();

    // False when the region's queue is full, or after stop().
    [[nodiscard]] bool post(const std::string& region, ThreadPool::Job job);
    // No new jobs; runs the queued ones, joins. Idempotent.
    void stop();

  private:
    struct State {
        bool stopping = false;
        std::map<std::string, std::unique_ptr<ThreadPool>> pools;  // none is removed before the destructor
    };

    const std::string name_;
    const std::size_t of_each_;
    Guarded<State> state_;
};

}  // namespace svc

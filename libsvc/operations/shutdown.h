#pragma once
// The engine's stop: whether it has begun, and which running jobs it waits for.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

#include "libsvc/base/timer.h"
#include "libsvc/operations/job.h"

namespace svc {

// Thread-safe. A job that runs when the stop begins is awaited until it ends or is left to the next process.
class Shutdown {
  public:
    bool begin() { return !begun_.exchange(true); }  // false: it had begun before
    bool begun() const { return begun_; }

    void await(Job& job);                     // has an effect for jobs that run or that must be undone
    void settled(Job& job);                   // has ended, or was left
    void wait(Timer& timer, Duration grace);  // until all awaited jobs have settled, at most `grace`

    std::stop_token gave_up() const { return gave_up_.get_token(); }  // ends pauses between attempts
    void give_up() { gave_up_.request_stop(); }

  private:
    std::atomic<bool> begun_{false};
    std::stop_source gave_up_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t awaited_ = 0;
    bool grace_over_ = false;
};

}  // namespace svc

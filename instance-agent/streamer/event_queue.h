#pragma once
// The one thread that decides everything in svc-streamer takes its work from here.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "libsvc/base/clock.h"

namespace svc::streamer {

// Thread-safe; the work runs on the thread that calls run(). What it throws is logged.
class EventQueue {
  public:
    using Work = std::function<void()>;

    explicit EventQueue(Clock& clock) : clock_(clock) {}
    void post(Work work);
    void after(Duration delay, Work work);
    void run();             // until stop()
    std::size_t run_due();  // what can run now; how much that was
    void stop();

  private:
    Work take_due();  // an empty one: nothing is due

    Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work> posted_;
    std::multimap<SteadyTime, Work> later_;
    bool stopped_ = false;
};

}  // namespace svc::streamer

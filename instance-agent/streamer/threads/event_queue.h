#pragma once
// The work queue of svc-streamer's one deciding thread.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "libsvc/base/clock.h"

namespace svc::streamer {

// Thread-safe. Work runs on the thread that calls run(). Exceptions of work are logged.
class EventQueue {
  public:
    using Work = std::function<void()>;
    static constexpr std::size_t most_weight = 4U << 20;

    explicit EventQueue(Clock& clock) : clock_(clock) {}
    void post(Work work);
    // Blocks until the work that was posted this way and has not run weighs less than `most_weight`. Does not
    // block after stop().
    void post_when_room(std::size_t weight, Work work);
    void after(Duration delay, Work work);
    void run();             // until stop()
    std::size_t run_due();  // runs the work that is due; returns how many
    void stop();
    SteadyTime now() const { return clock_.steady_now(); }
    bool runs_here() const { return running_ == std::this_thread::get_id(); }  // run() runs on this thread

  private:
    Work take_due();  // empty: nothing is due
    void give_room(std::size_t weight);

    Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_, room_;
    std::deque<Work> posted_;
    std::multimap<SteadyTime, Work> later_;
    std::size_t weight_ = 0;
    bool stopped_ = false;
    std::atomic<std::thread::id> running_{};
};

}  // namespace svc::streamer

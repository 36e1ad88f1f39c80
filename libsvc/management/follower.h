#pragma once
// Runs a job at an interval of the configuration, and at once when asked to. The job asks a server elsewhere
// (an image server, a registry), so it has a thread of its own: it may wait for the network.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "libsvc/base/clock.h"

namespace svc {

// Thread-safe. The destructor waits for a run that goes on.
class Follower {
  public:
    using Interval = std::function<Duration()>;

    // `name` is that of the thread, at most 15 characters. What `run` throws is logged.
    Follower(std::string name, Interval interval, std::function<void()> run);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    void start();  // once; the first run comes now
    // No run begins any more. False when one still goes on after `limit`: its connection may take a while to
    // time out.
    bool stop(Duration limit);
    void run_now();           // and then after the interval again; returns at once
    void interval_changed();  // the new one counts from now on

  private:
    void follow(const std::stop_token& stop);
    void run();
    bool wait(const std::stop_token& stop);
    void wake(bool run);

    const std::string name_;
    const Interval interval_;
    const std::function<void()> run_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool due_ = true;
    bool restarted_ = false;
    bool running_ = false;
    std::jthread thread_;
};

}  // namespace svc

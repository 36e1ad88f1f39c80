#pragma once
// Calls that are due later, any number of them on one thread.
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "libsvc/base/clock.h"

namespace svc {

// Thread-safe. Calls run one at a time on the timer's thread and must be quick; an exception is logged. The
// destructor drops the pending calls and waits for the one that runs.
class Timer {
  public:
    using Ticket = std::uint64_t;  // never 0

    Timer(Clock& clock, std::string name);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    Ticket after(Duration delay, std::function<void()> call);
    void cancel(Ticket ticket);  // ignores unknown tickets; does not wait for a call that runs already
    std::size_t pending() const;

  private:
    using Key = std::pair<SteadyTime, Ticket>;
    void run(const std::stop_token& stop);
    std::function<void()> take_due();

    Clock& clock_;
    std::string name_;
    mutable std::mutex mutex_;
    std::map<Key, std::function<void()>> calls_;
    std::map<Ticket, SteadyTime> deadlines_;
    Ticket last_ticket_ = 0;
    std::stop_source round_;  // ends the present wait when an earlier call is added
    std::jthread thread_;     // last: uses all above
};

}  // namespace svc

#pragma once
// Repeats calls at a steady rate. Each call has a key; all of them run on one thread, so that what they send
// stays in order. The thread starts with the first call: most instances use few of their devices.
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"

namespace svc::agent {

// Thread-safe. stop() does not interrupt or await a call that runs. Calls that a stalled machine has missed
// are skipped. start() and once() throw std::system_error when the thread cannot be started.
class Repeater {
  public:
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    using Call = std::function<void()>;

    Repeater(Clock& clock, std::string name) : clock_(clock), name_(std::move(name)) {}

    void start(Key key, Duration interval,
               Call call);  // the first call at once; replaces the key's older call
    void hasten(Key key);   // calls at once, then again at the interval
    void stop(Key key);
    bool has(Key key) const;
    void once(Call call);  // at once

  private:
    struct Entry {
        Duration interval{};
        Call call;
        SteadyTime due{};
        Timer::Ticket ticket = 0;
        std::uint64_t turn = 0;  // a timer of an older turn does nothing
    };
    Timer& timer();
    void arm(Key key, Entry& entry);
    void fire(Key key, std::uint64_t turn);

    Clock& clock_;
    const std::string name_;
    Guarded<std::map<Key, Entry>> entries_;
    std::once_flag started_;
    std::optional<Timer> timer_;  // last: its calls use the entries
};

}  // namespace svc::agent

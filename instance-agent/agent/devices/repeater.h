#pragma once
// Repeats calls at a steady rate. Each call has a key; all of them run on one thread, so that what they send
// stays in order.
#include <functional>
#include <map>
#include <utility>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"

namespace svc::agent {

// Thread-safe. stop() does not interrupt or await a call that runs. Calls that a stalled machine has missed
// are skipped.
class Repeater {
  public:
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    using Call = std::function<void()>;

    Repeater(Clock& clock, std::string name) : clock_(clock), timer_(clock, std::move(name)) {}

    void start(Key key, Duration interval,
               Call call);  // the first call at once; replaces the key's older call
    void hasten(Key key);   // calls at once, then again at the interval
    void stop(Key key);
    bool has(Key key) const;
    void once(Call call) { timer_.after(Duration::zero(), std::move(call)); }  // at once

  private:
    struct Entry {
        Duration interval{};
        Call call;
        SteadyTime due{};
        Timer::Ticket ticket = 0;
        std::uint64_t turn = 0;  // a timer of an older turn does nothing
    };
    void arm(Key key, Entry& entry);
    void fire(Key key, std::uint64_t turn);

    Clock& clock_;
    Guarded<std::map<Key, Entry>> entries_;
    Timer timer_;  // last: its calls use the entries
};

}  // namespace svc::agent

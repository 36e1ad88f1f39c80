#pragma once
// One thread that waits for descriptors and delays, and runs callbacks.
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"

namespace svc::lxc {

// Thread-safe. Callbacks run one at a time on the watcher's thread, without its lock; an exception is logged.
// They may call watch(), after() and cancel(). The destructor waits for the callback that runs and drops the
// others.
class Watcher {
  public:
    using Ticket = std::uint64_t;  // never 0
    using Call = std::function<void()>;

    Watcher();
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // Calls once, when `fd` is readable or hung up. The caller owns `fd` and keeps it open until the call or
    // cancel().
    Ticket watch(int fd, Call call);
    Ticket after(std::chrono::milliseconds delay, Call call);
    void cancel(Ticket ticket);  // ignores unknown tickets; does not wait for a callback that runs already

  private:
    using Instant = std::chrono::steady_clock::time_point;
    struct Waiting {
        std::map<Ticket, std::pair<int, Call>> descriptors;
        std::map<std::pair<Instant, Ticket>, Call> delays;
        Ticket last = 0;
    };
    void run(std::stop_token stop);
    int next_timeout();
    void call_due();
    void call_ready(Ticket ticket);
    void wake();

    FileDescriptor epoll_, wakeup_;
    Guarded<Waiting> waiting_;
    std::jthread thread_;
};

}  // namespace svc::lxc

#pragma once
// One thread that waits for descriptors and delays, and calls back.
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"

namespace svc::lxc {

// Thread-safe. Calls run one at a time on the watcher's thread, outside of its lock; what they throw is
// logged. They may watch, delay and cancel. The destructor waits for the call that runs and drops the rest.
class Watcher {
  public:
    using Ticket = std::uint64_t;  // never 0
    using Call = std::function<void()>;

    Watcher();
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // Once, when `fd` is readable or hung up. It stays the caller's, open until called or cancelled.
    Ticket watch(int fd, Call call);
    Ticket after(std::chrono::milliseconds delay, Call call);
    void cancel(Ticket ticket);  // unknown ones are ignored; a call that runs already is not waited for

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

#pragma once
// What happened to sessions, applied to their records: in order for each session, again when the store
// failed.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"

namespace svc {

// Thread-safe. The events of one session run on one thread, in the order of hand_over(). An event that throws
// unavailable or exhausted runs again at the next retry(), before later events of its session.
class SessionEvents {
  public:
    using Event = std::function<void()>;

    explicit SessionEvents(std::stop_token stopping);

    void hand_over(const std::string& session, Event event);  // queues, does not block
    void retry();
    void stop();  // no new events; runs the queued ones, joins

  private:
    ThreadPool& thread_of(const std::string& session);
    void apply(const std::string& session, const Event& event);
    void apply_late(const std::string& session);

    const std::stop_token stopping_;
    Guarded<std::map<std::string, std::deque<Event>>> late_;  // by session: failed, and those behind them
    std::vector<std::unique_ptr<ThreadPool>> threads_;        // last: end first
};

}  // namespace svc

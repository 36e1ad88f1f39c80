#pragma once
// Which sessions have work at their management service, and the threads that do it.
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/streaming/regions/region_threads.h"
#include "libsvc/streaming/sessions/session_records.h"

namespace svc {

// Thread-safe. Runs the work of a session (launch, check or delete its instance, as the record says), once at
// a time for each session; work that failed is due again after 5 s to 60 s.
class SessionWork {
  public:
    // `is_fresh`: nobody has asked a region for the session's instance before. Throws when it failed.
    using Work = std::function<void(const std::string& session, bool is_fresh)>;

    SessionWork(SessionRecords& records, Clock& clock, std::stop_token stopping, Work work);

    void add(const std::string& session);           // called for a new session, before its record is stored
    void cancel(const std::string& session);        // called when the new session was not stored
    void schedule(const std::string& session);      // runs the work soon, or once more when it runs already
    void schedule_due(const std::string& session);  // the same, unless the work failed a moment ago
    void retry_failed();                            // runs the failed work that is due
    bool is_running(const std::string& session) const;

    // Another call of the region, on the same threads. False after stop().
    [[nodiscard]] bool call(const std::string& region, ThreadPool::Job job);
    void stop();  // waits for what runs

  private:
    struct Task {
        bool running = false;
        bool again = false;  // was scheduled meanwhile
        bool fresh = false;
        int failures = 0;
        SteadyTime due{};
    };
    void post(const std::string& session);
    void run(const std::string& session);
    bool attempt(const std::string& session, bool is_fresh) const;

    SessionRecords& records_;
    Clock& clock_;
    const std::stop_token stopping_;
    const Work work_;
    Guarded<std::map<std::string, Task>> tasks_;  // by session
    RegionThreads calls_;                         // last: end first
    RegionThreads removals_;
};

}  // namespace svc

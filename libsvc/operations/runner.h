#pragma once
// Runs the work of operations on worker threads and ends each operation exactly once.
#include <functional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/claims.h"
#include "libsvc/operations/job_table.h"
#include "libsvc/operations/queue_limit.h"
#include "libsvc/operations/records.h"
#include "libsvc/operations/shutdown.h"

namespace svc {

// What the runner works with. All of it outlives the runner.
struct RunnerParts {
    OperationRecords& records;
    JobTable& jobs;
    Claims& claims;
    QueueLimit& queue;
    Shutdown& shutdown;
    EventBus& events;
    Clock& clock;
    Timer& timer;
};

// Thread-safe. The destructor waits for work that runs.
class Runner {
  public:
    Runner(RunnerParts parts, std::size_t workers);

    void dispatch(const JobPtr& job);  // a worker begins the work, or takes the last step of detached work
    void dispatch_ready(const std::vector<std::string>& ids);  // those that Claims says may start
    void stop() { pool_.stop(); }                              // returns when no work runs any more

  private:
    // later: the operation does not end, since the store refuses what the undo changes at present.
    enum class Stored { yes, no, later };
    // The final record of an operation, and what is still to be done.
    struct Outcome {
        OperationPtr record;
        std::function<void()> after;
        Stored stored = Stored::yes;
    };

    void run(const JobPtr& job);
    bool begin(const JobPtr& job);  // true: the work is to be run now
    void finish(const JobPtr& job, const LastStep& step);
    Outcome succeed(const Job& job, const LastStep& step);
    void end_failed(Job& job, const Error& error);
    Outcome fail(const Job& job, const Error& error);
    Stored store_failure(const Operation& record, OperationResult& undone);
    bool was_cancelled(const Job& job, const Error& error) const;
    void conclude(Job& job, const Outcome& outcome);
    void leave(Job& job);  // unfinished in the store, for the next sweep or the next process

    RunnerParts parts_;
    ThreadPool pool_;  // last: its threads use all of the above
};

}  // namespace svc

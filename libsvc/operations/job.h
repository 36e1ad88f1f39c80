#pragma once
// The engine's view of one unfinished operation.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/operations/final_listeners.h"
#include "libsvc/operations/handler.h"
#include "libsvc/operations/work_state.h"

namespace svc {

// starting: not committed yet. left: unfinished, for the next sweep or, at shutdown, the next process.
// refused: not committed.
enum class JobPhase { starting, queued, running, ending, ended, left, refused };

// Thread-safe. `order` protects the public members that are neither atomic nor classes that lock themselves.
class Job : public std::enable_shared_from_this<Job> {
  public:
    using Dispatch = std::function<void(std::shared_ptr<Job>)>;
    Job(OperationPtr record, const OperationHandler* handler, Dispatch dispatch);

    const std::string id;
    const OperationHandler* const handler;  // null: this program does not know the kind
    bool resumable() const { return handler != nullptr && handler->resumable; }

    // Held while a state is changed, stored and published: keeps one operation's events in the order of its
    // states. Taken before any other lock.
    std::mutex order;
    JobPhase phase = JobPhase::starting;
    std::optional<SteadyTime> last_progress_event;
    // By a restart, or by an end that the store has refused: the work is undone and ends with this error.
    std::optional<Error> interrupted;
    bool resumed = false;
    bool awaited = false;  // by Shutdown

    std::atomic<bool> visible{false};  // committed
    std::atomic<bool> cancel_requested{false};

    OperationPtr record() const;
    void set_record(OperationPtr record);

    WorkState work;
    FinalListeners listeners;

  private:
    Guarded<OperationPtr> record_;
};

using JobPtr = std::shared_ptr<Job>;

}  // namespace svc

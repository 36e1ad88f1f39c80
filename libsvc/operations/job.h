#pragma once
// The engine's own view of one unfinished operation.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/timer.h"
#include "libsvc/operations/engine.h"

namespace svc {

using OperationPtr = std::shared_ptr<const Operation>;
using Ending = std::function<OperationResult()>;  // gives how the work ended, or throws

// Somebody who wants to know once how an operation ended. Thread-safe.
class Waiter {
  public:
    explicit Waiter(std::function<void(OperationPtr)> done) : done_(std::move(done)) {}
    void fire(OperationPtr record);  // the first call counts
    // False: has fired already, the timer's ticket is of no use.
    bool keep_ticket(Timer::Ticket ticket);
    Timer::Ticket ticket() const;  // 0: none

  private:
    mutable std::mutex mutex_;
    std::function<void(OperationPtr)> done_;  // empty: has fired
    Timer::Ticket ticket_ = 0;
};

// starting: not committed yet. left: the daemon stops, the next one takes it up. refused: never came into
// being.
enum class Phase { starting, queued, running, ending, ended, left, refused };

// Thread-safe. What is public and not atomic belongs to `order`.
class Job : public std::enable_shared_from_this<Job> {
  public:
    using Dispatch = std::function<void(std::shared_ptr<Job>)>;
    Job(OperationPtr record, const OperationHandler* handler, Dispatch dispatch);

    const std::string id;
    const OperationHandler* const handler;  // null: this program does not know the kind

    // Held while a state is changed, stored and told of: keeps one operation's events in the order of its
    // states. Taken before any other lock.
    std::mutex order;
    Phase phase = Phase::starting;
    std::optional<SteadyTime> last_progress_event;
    std::optional<Error> interrupted;  // by a restart: not to be run, but undone and ended with this
    bool resumed = false;
    bool awaited = false;  // by stop()

    std::atomic<bool> visible{false};  // committed
    std::atomic<bool> cancel_requested{false};

    OperationPtr record() const;
    void set_record(OperationPtr record);

    std::stop_token stop_token() const { return stop_.get_token(); }
    void ask_to_stop();  // calls what the work has registered, on this thread

    // The work itself, between these two. `leave_run` gives the ending to carry out now; nothing when the
    // work was detached and goes on elsewhere. What was given to complete() first counts.
    void enter_run();
    std::optional<Ending> leave_run(Ending own, bool failed);
    void detach(std::function<void()> on_stop);
    void complete(Ending ending);  // from anywhere; dispatches when run() has returned
    std::optional<Ending> take_ending();
    void disconnect();  // complete() does nothing from now on: the engine goes away

    // False: those that waited have been told, or the engine has stopped. Between the final record and that
    // moment its event goes out: who waits must not be ahead of it.
    bool add_waiter(std::shared_ptr<Waiter> waiter);
    void drop_waiter(const std::shared_ptr<Waiter>& waiter);
    std::vector<std::shared_ptr<Waiter>> take_waiters();

  private:
    mutable std::mutex mutex_;
    OperationPtr record_;
    Dispatch dispatch_;
    std::function<void()> on_stop_;
    std::optional<Ending> ending_;
    std::vector<std::shared_ptr<Waiter>> waiters_;
    bool told_ = false;  // those that waited: whoever comes now is told at once
    std::stop_source stop_;
    bool in_run_ = false;
    bool detached_ = false;
    bool completed_ = false;
    bool stop_asked_ = false;
};

}  // namespace svc

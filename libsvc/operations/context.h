#pragma once
// What the engine hands to the work of an operation.
#include <functional>
#include <memory>
#include <stop_token>

#include "libsvc/base/clock.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/handler.h"

namespace svc {

class Job;
class OperationRecords;

// Ends an operation whose run() returned after detach(). Thread-safe; the first call counts, later calls do
// nothing. Both calls return at once: the final commit or the undo runs on a worker of the engine. The
// operation fails when the last reference is gone and neither was called.
class OperationCompletion {
  public:
    explicit OperationCompletion(std::shared_ptr<Job> job);
    ~OperationCompletion();
    OperationCompletion(const OperationCompletion&) = delete;
    OperationCompletion& operator=(const OperationCompletion&) = delete;

    void succeed(LastStep last);  // `last` may throw, like run()
    void fail(const Error& error);

  private:
    std::shared_ptr<Job> job_;
};

// What the work of one operation sees. For one thread: the one that called run().
class OperationContext {
  public:
    OperationContext(OperationRecords& records, EventBus& events, Clock& clock, std::shared_ptr<Job> job);

    const Operation& operation() const { return *record_; }  // id, arguments, requestor as stored
    std::stop_token stop() const;   // requested by a cancel, or when the daemon stops
    bool cancel_requested() const;  // distinguishes a cancel from the daemon's stop
    bool resumed() const;           // an earlier process has begun this work
    // Merges into the metadata; publishes at most one event a second. Stored with the final record only.
    void progress(const Json& metadata);
    // Merges into the stored arguments: what a later process has to know to go on with this work. Throws what
    // the store throws.
    void keep(const Json& arguments);
    // Lets run() return without ending the operation, so that waiting (for a guest to boot) holds no worker:
    // the return value of run() is ignored then. `on_stop` is called once, on any thread, when the operation
    // is cancelled or the daemon stops; the holder then usually calls fail() with `cancelled`.
    std::shared_ptr<OperationCompletion> detach(std::function<void()> on_stop);

  private:
    OperationRecords& records_;
    EventBus& events_;
    Clock& clock_;
    std::shared_ptr<Job> job_;
    OperationPtr record_;  // as it was when the work began
};

}  // namespace svc

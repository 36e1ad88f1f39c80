#pragma once
// Background work: stored before it runs, claimed, cancelled, recovered after a crash, ended exactly once.
// docs/operations.md describes the life of an operation.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/base/timer.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/canceller.h"
#include "libsvc/operations/claims.h"
#include "libsvc/operations/context.h"
#include "libsvc/operations/handler.h"
#include "libsvc/operations/job_table.h"
#include "libsvc/operations/queue_limit.h"
#include "libsvc/operations/records.h"
#include "libsvc/operations/runner.h"
#include "libsvc/operations/shutdown.h"
#include "libsvc/store/store.h"

namespace svc {

struct OperationSpec {
    std::string kind{};  // names a registered handler
    std::string description{};
    OperationClass cls = OperationClass::task;
    std::map<std::string, std::vector<std::string>> resources{};
    std::vector<std::string> claims{};
    bool cancellable = false;
    Json arguments{};
    Json metadata{};
    std::string requestor{};
    // Queue behind the present holder instead of `busy`, and cancel that holder when it may be cancelled: for
    // deletions.
    bool wait_for_claims = false;
    bool cancel_holders = true;  // false: with wait_for_claims, only queue behind them
    std::string id{};            // "": a new one
};

// How many operations have not ended.
struct EngineLoad {
    std::size_t queued = 0;  // wait for a worker, or for other operations
    std::size_t running = 0;
};

struct EngineOptions {
    std::size_t workers = 12;
    std::size_t max_queued = 20'000;   // more are refused: exhausted "operation queue is full"
    std::size_t keep_finished = 1000;  // at most so many
    Duration keep_for = std::chrono::hours(24);
};

// Thread-safe. Accepts operations; the work is the Runner's.
class Engine {
  public:
    Engine(Store& store, EventBus& events, Clock& clock, IdSource& ids, EngineOptions options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    void handle(std::string kind, OperationHandler handler);  // all of them before recover()
    // Continues or ends what an earlier process left unfinished (`err` = "service restarted"). Once, before
    // start(). Returns when all of it holds its claims again; work and undo go on in the background.
    void recover();

    // Commits `batch` with the new record, announces it (Pending, then Running), queues the work.
    // Throws busy "<what> already in progress" when another operation holds a claim, conflict when `batch`
    // meets one, unavailable once stop() was called; nothing has changed then. Of the record that it returns
    // alone `metadata.fds` is a part: the engine keeps no secrets.
    OperationPtr start(OperationSpec spec, Batch batch);
    // Throws not_found; invalid_argument "Only running operations can be cancelled", "This operation can't be
    // cancelled".
    void cancel(std::string_view id) { canceller_.cancel(id); }
    OperationPtr get(std::string_view id) const;  // live record; throws not_found
    std::vector<OperationPtr> list() const;       // oldest first
    EngineLoad load() const;
    // Finished operations and those that cannot be read; of a live one perhaps an old record.
    const Collection<Operation>& stored() const { return records_.stored(); }
    bool claimed(std::string_view claim) const { return claims_.held(claim); }  // held or waited for
    // Calls back once when the operation is final, or when `timeout` has passed (nothing: never), with the
    // record as it is then. From any thread, at once when it is final already. Holds no thread while waiting.
    void when_final(std::string_view id, std::optional<Duration> timeout,
                    std::function<void(OperationPtr)> done);
    OperationPtr wait(std::string_view id, std::optional<Duration> timeout);  // blocks
    // Removes finished operations beyond the bounds of the options, but none within 5 s for their number.
    // Stores ends and repeats undos that the store has refused, and works on operations whose records were
    // stored after start() had thrown unavailable. A periodic job, after recover().
    void sweep();
    // No new work, cancels what may be cancelled, waits for the rest until `grace` has passed. What is still
    // running stays as it is in the store and is recovered at the next start; listeners are called with the
    // record as it is.
    void stop(Duration grace);
    // Stops at once and waits for work that does not heed its stop token, as the destructor does. Afterwards
    // no work runs, but the engine may still be called from other threads, which it refuses: the owners of
    // handlers end between this and the destructor.
    void join();

  private:
    Operation new_record(OperationSpec spec) const;
    std::vector<std::string> accept(Job& job, Claims::IfHeld if_held, Batch batch);
    void take_back(Job& job);
    JobPtr recover_one(const Operation& record, const char* reason);
    void take_up_late();
    void store_unstored();
    void undo_again();

    EventBus& events_;
    Clock& clock_;
    IdSource& ids_;
    const EngineOptions options_;
    Shutdown shutdown_;
    OperationRecords records_;
    Claims claims_;
    JobTable jobs_;
    QueueLimit queue_;
    Canceller canceller_;
    Timer timer_;    // of the timeouts of listeners
    Runner runner_;  // last: its threads use all of the above
};

}  // namespace svc

#pragma once
// Background work: stored before it runs, claimed, cancelled, recovered after a crash, ended exactly once.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/model/cluster/operation.h"
#include "libsvc/store/collection.h"
#include "libsvc/store/store.h"

namespace svc {

template <>
struct RecordTraits<Operation> {
    static constexpr std::string_view noun = "operation";
    static constexpr std::string_view prefix = "operations/";
    static const std::string& id(const Operation& o) { return o.id.str(); }
    static std::string name(const Operation&) { return ""; }
    static Json to_store(const Operation& o) { return operation_to_store(o); }
    static Operation from_store(const Json& j) { return operation_from_store(j); }
};

struct OperationResult;

// Ends an operation whose run() went on waiting elsewhere. Thread-safe; the first call counts, later ones do
// nothing. Both run the end (final commit, undo) on a worker of the engine and return at once.
class OperationCompletion {
  public:
    virtual ~OperationCompletion() = default;
    virtual void succeed(std::function<OperationResult()> last) = 0;  // `last` may throw, like run()
    virtual void fail(const Error& error) = 0;
};

// What the work of one operation sees. One thread.
class OperationContext {
  public:
    virtual ~OperationContext() = default;
    virtual const Operation& operation() const = 0;  // id, arguments, requestor as stored
    virtual std::stop_token stop() const = 0;        // requested by a cancel, or when the daemon stops
    virtual bool cancel_requested() const = 0;       // tells the two apart
    virtual bool resumed() const = 0;                // this work began in an earlier life of the daemon
    // Merges into the metadata; an event at most once a second, kept in memory until the end.
    virtual void progress(const Json& metadata) = 0;
    // Lets run() return without ending the operation, so that waiting (for a guest to boot) holds no worker:
    // what run() returns is ignored then. `on_stop` is called once, on any thread, when the operation is
    // cancelled or the daemon stops; the holder then usually calls fail() with `cancelled`.
    virtual std::shared_ptr<OperationCompletion> detach(std::function<void()> on_stop) = 0;
};

// How work ends well: `last` commits together with the operation's final record.
struct OperationResult {
    Batch last{};
    // Adds to the final commit what depends on records that others change too. Called right before that
    // commit, and again when the commit meets a conflict; what it throws ends the operation like run() does.
    // May be empty.
    std::function<void(Batch& last)> stage{};
    Json metadata{};                // replaces the operation's metadata unless null
    std::function<void()> after{};  // runs once after that commit: events of what changed. May be empty
};

struct OperationHandler {
    // Does the work. Throwing Error makes the operation a Failure with that text (Cancelled with "Operation
    // cancelled" when the code is `cancelled` and a cancel was requested, or one waits for its claims that
    // cancels their holder, whoever of the two was first).
    std::function<OperationResult(OperationContext&)> run;
    // Undoes what the work left, after it failed, was cancelled, or was interrupted and cannot be resumed.
    // Its result commits together with the final record. Must bear being run twice. May be empty.
    std::function<OperationResult(const Operation&, const Error&)> undo;
    bool resumable = false;  // run() may be called again from the start after a crash
};

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

struct EngineOptions {
    std::size_t workers = 12;
    std::size_t max_queued = 20'000;   // more are refused: exhausted "operation queue is full"
    std::size_t keep_finished = 1000;  // at most so many
    Duration keep_for = std::chrono::hours(24);
};

// Thread-safe.
class Engine {
  public:
    Engine(Store& store, EventBus& events, Clock& clock, IdSource& ids, EngineOptions options);
    ~Engine();

    void handle(std::string kind, OperationHandler handler);  // all of them before recover()
    // Continues or ends what an earlier process left unfinished (`err` = "service restarted"). Once, before
    // start(). Returns when all of it holds its claims again; its work and undoing go on in the background.
    void recover();

    // Commits `batch` with the new record, announces it (Pending, then Running), queues the work.
    // Throws busy "<what> already in progress" when another operation holds a claim, conflict when `batch`
    // meets one, unavailable once stop() was called; nothing has changed then.
    std::shared_ptr<const Operation> start(OperationSpec spec, Batch batch);
    // Throws not_found; invalid_argument "Only running operations can be cancelled", "This operation can't be
    // cancelled".
    void cancel(std::string_view id);
    std::shared_ptr<const Operation> get(std::string_view id) const;  // live record; throws not_found
    std::vector<std::shared_ptr<const Operation>> list() const;
    bool claimed(std::string_view claim) const;  // an operation holds it, or waits for it
    // Calls back once when the operation is final, or when `timeout` has passed (nothing: never), with the
    // record as it is then. From any thread, at once when it is final already. Costs no thread while waiting.
    void when_final(std::string_view id, std::optional<Duration> timeout,
                    std::function<void(std::shared_ptr<const Operation>)> done);
    std::shared_ptr<const Operation> wait(std::string_view id, std::optional<Duration> timeout);  // blocks
    void
    sweep();  // forgets finished ones beyond the bounds, but none within 5 s for their number; a periodic job
    // No new work, cancels what may be cancelled, waits for the rest until `grace` has passed. What is still
    // running stays as it is in the store and is recovered at the next start; who still waits is called with
    // the record as it is.
    void stop(Duration grace);
    // Stops at once and waits for work that does not heed its stop token, as the destructor does. Afterwards
    // nothing runs here, but who has threads of its own may still call, and is refused: handlers' owners end
    // between this and the destructor.
    void join();

    class Implementation;

  private:
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc

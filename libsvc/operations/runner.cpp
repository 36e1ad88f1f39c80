#include "libsvc/operations/runner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/operations/context.h"

namespace svc {

namespace {

constexpr std::size_t max_err_bytes = std::size_t{32} << 10;  // so that the end can be stored

LastStep step_that_throws(const Error& error) {
    return [error]() -> OperationResult { throw Error(error); };
}

LastStep run_work(const JobPtr& job, OperationContext& context, bool& failed) {
    try {
        const auto result = std::make_shared<OperationResult>(job->handler->run(context));
        return [result] { return std::move(*result); };
    } catch (const Error& e) {
        failed = true;
        return step_that_throws(e);
    } catch (const std::exception& e) {
        failed = true;
        return step_that_throws(Error(ErrorCode::internal, e.what()));
    }
}

OperationResult undo_work(const Job& job, const Error& error) {
    if (job.handler == nullptr || !job.handler->undo) return {};
    try {
        return job.handler->undo(*job.record(), error);
    } catch (const std::exception& e) {
        log::error("undoing an operation failed", {{"kind", job.record()->kind}, {"error", e.what()}});
        return {};
    }
}

Operation final_record(Operation record, OperationStatus status, Time now, const Json& metadata) {
    record.status = status;
    record.updated_at = now;
    record.may_cancel = false;
    if (!metadata.is_null()) record.metadata = metadata;
    return record;
}

// What work throws when the engine stops: it was asked to stop, or it could not start a further operation.
// Work that can be resumed loses nothing if something else was unavailable.
bool is_end_of_service(const Job& job, const Error& error) {
    return error.code() == ErrorCode::cancelled ||
           (error.code() == ErrorCode::unavailable && job.resumable());
}

// The store refuses every change, until it has room or can be reached again.
bool is_for_now(ErrorCode refusal) {
    return refusal == ErrorCode::exhausted || refusal == ErrorCode::unavailable;
}

void run_after(const std::function<void()>& after) {
    try {
        if (after) after();
    } catch (const std::exception& e) {
        log::error("telling what an operation changed failed", {{"error", e.what()}});
    }
}

}  // namespace

Runner::Runner(RunnerParts parts, std::size_t workers)
    : parts_(parts), pool_("operations", workers, std::numeric_limits<std::size_t>::max()) {}

void Runner::dispatch(const JobPtr& job) {
    // Refused only while stopping: the operation stays unfinished in the store, for the next start.
    if (!pool_.post([this, job] { run(job); })) log::debug("operation left", {{"operation", job->id}});
}

void Runner::dispatch_ready(const std::vector<std::string>& ids) {
    for (const std::string& id : ids)
        if (const JobPtr job = parts_.jobs.find(id)) dispatch(job);
}

void Runner::run(const JobPtr& job) {
    const log::Scope scope({"operation", job->id});
    if (const auto step = job->work.take_last_step()) return finish(job, *step);  // of detached work
    if (!begin(job)) return;
    failpoint("engine.begun");
    OperationContext context(parts_.records, parts_.events, parts_.clock, job);
    bool failed = false;
    LastStep own = run_work(job, context, failed);
    if (const auto step = job->work.leave_run(std::move(own), failed)) finish(job, *step);
}

bool Runner::begin(const JobPtr& job) {
    std::optional<Error> instead;
    {
        std::lock_guard order(job->order);
        if (job->phase != JobPhase::queued) return false;
        parts_.queue.leave();
        if (job->cancel_requested) {
            instead.emplace(ErrorCode::cancelled, "Operation cancelled");
        } else if (parts_.shutdown.begun()) {
            job->phase = JobPhase::left;
            return false;
        } else {
            instead = job->interrupted;
        }
        job->phase = instead ? JobPhase::ending : JobPhase::running;
        if (!instead) job->work.enter_run();
    }
    if (instead) end_failed(*job, *instead);
    return !instead;
}

void Runner::finish(const JobPtr& job, const LastStep& step) {
    {
        std::lock_guard order(job->order);
        job->phase = JobPhase::ending;  // neither progress nor cancellation from here on
    }
    failpoint("engine.worked");
    std::optional<Outcome> outcome;
    try {
        outcome = succeed(*job, step);
    } catch (const Error& e) {
        if (parts_.shutdown.begun() && !job->cancel_requested && is_end_of_service(*job, e))
            return leave(*job);
        return end_failed(*job, e);
    } catch (const std::exception& e) {
        return end_failed(*job, Error(ErrorCode::internal, e.what()));
    }
    conclude(*job, *outcome);
}

// An end without its undo would leave what nobody undoes any more, so the operation waits for the store.
void Runner::end_failed(Job& job, const Error& error) {
    const Outcome outcome = fail(job, error);
    if (outcome.stored != Stored::later) return conclude(job, outcome);
    {
        std::lock_guard order(job.order);
        job.interrupted = error;
    }
    leave(job);
}

Runner::Outcome Runner::succeed(const Job& job, const LastStep& step) {
    const OperationResult result = step();
    Operation record =
        final_record(*job.record(), OperationStatus::success, parts_.clock.now(), result.metadata);
    parts_.records.finish(record, result);
    return {std::make_shared<const Operation>(std::move(record)), result.after};
}

Runner::Outcome Runner::fail(const Job& job, const Error& error) {
    const bool cancelled = was_cancelled(job, error);
    OperationResult undone = undo_work(job, error);
    failpoint("engine.undone");
    const auto status = cancelled ? OperationStatus::cancelled : OperationStatus::failure;
    Operation record = final_record(*job.record(), status, parts_.clock.now(), undone.metadata);
    record.err = cancelled ? "Operation cancelled" : clipped(error.what(), max_err_bytes);
    if (!cancelled) log::warning("operation failed", {{"kind", record.kind}, {"error", record.err}});
    const Stored stored = store_failure(record, undone);
    return {std::make_shared<const Operation>(std::move(record)), undone.after, stored};
}

// A disk may fail a single time. The operation ends also where the store never takes the changes of the undo,
// or takes nothing although there is nothing to undo.
Runner::Stored Runner::store_failure(const Operation& record, OperationResult& undone) {
    auto refused = parts_.records.try_finish(record, undone);
    if (refused && *refused != ErrorCode::unavailable) refused = parts_.records.try_finish(record, undone);
    if (!refused) return Stored::yes;
    if (undone.last.empty() && !undone.stage) return Stored::no;
    if (is_for_now(*refused)) return Stored::later;
    undone = {};
    return parts_.records.try_finish(record, {}) ? Stored::no : Stored::yes;
}

// Work may see the records of a deletion before that deletion asks it to stop, or when it is too late to ask:
// it was cancelled all the same.
bool Runner::was_cancelled(const Job& job, const Error& error) const {
    if (error.code() != ErrorCode::cancelled) return false;
    if (job.cancel_requested) return true;
    const auto cancels = [this](const std::string& id) {
        const JobPtr waiting = parts_.jobs.find(id);
        return waiting && waiting->record()->cancels_holders;
    };
    return job.record()->may_cancel && std::ranges::any_of(parts_.claims.behind(job.id), cancels);
}

// The order matters: first the events of what the work changed, then the claims are free, then the end is
// visible. So nobody who knows of the end is refused with `busy`, and neither is who knows of the events:
// from before them on, further operations are accepted, and begin when the claims are free.
void Runner::conclude(Job& job, const Outcome& outcome) {
    failpoint("engine.finished");
    parts_.claims.end(job.id);
    run_after(outcome.after);
    failpoint("engine.told_after");
    const auto next = parts_.claims.leave(job.id);
    job.set_record(outcome.record);
    parts_.events.publish(EventType::operation, to_json(*outcome.record));
    failpoint("engine.end_announced");
    {
        std::lock_guard order(job.order);
        job.phase = JobPhase::ended;
    }
    const JobPtr alive = job.shared_from_this();
    if (outcome.stored == Stored::yes) parts_.jobs.remove(job.id);
    job.listeners.tell(job.record(), parts_.timer);
    dispatch_ready(next);
    parts_.shutdown.settled(job);
}

void Runner::leave(Job& job) {
    {
        std::lock_guard order(job.order);
        job.phase = JobPhase::left;
    }
    log::info("operation left unfinished", {{"operation", job.id}});
    parts_.shutdown.settled(job);
}

}  // namespace svc

// Running the work of an operation, and ending it exactly once.
#include <algorithm>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/operations/context.h"
#include "libsvc/operations/engine_implementation.h"

namespace svc {

namespace {

constexpr int max_conflicts = 100;  // each needs another writer to have won; beyond that something is broken
constexpr int max_refusals = 5;
constexpr std::size_t max_err_bytes = std::size_t{32} << 10;  // so that the end can be stored
constexpr Duration first_pause = std::chrono::milliseconds(50);

Ending thrown(const Error& error) {
    return [error]() -> OperationResult { throw Error(error); };
}

Operation ended(Operation record, OperationStatus status, Time now, const Json& metadata) {
    record.status = status;
    record.updated_at = now;
    record.may_cancel = false;
    if (!metadata.is_null()) record.metadata = metadata;
    record.metadata.erase("fds");  // secrets that open nothing any more
    return record;
}

// What work throws that was asked to stop, or that could not start a further operation. Of work that can go
// on later nothing is lost if something else was unavailable.
bool is_end_of_service(const Job& job, const Error& error) {
    const bool resumable = job.handler != nullptr && job.handler->resumable;
    return error.code() == ErrorCode::cancelled || (error.code() == ErrorCode::unavailable && resumable);
}

}  // namespace

void Engine::Implementation::dispatch(const JobPtr& job) {
    // Refused only while stopping: the operation stays unfinished in the store, for the next start.
    if (!pool_.post([this, job] { run(job); })) log::debug("operation left", {{"operation", job->id}});
}

void Engine::Implementation::dispatch_all(const std::vector<std::string>& ids) {
    for (const std::string& id : ids)
        if (const JobPtr job = find_job(id)) dispatch(job);
}

void Engine::Implementation::run(const JobPtr& job) {
    const log::Scope scope({"operation", job->id});
    if (const auto ending = job->take_ending()) return finish(job, *ending);  // detached before
    if (!begin(job)) return;
    JobContext context(*this, job);
    std::optional<Ending> ending;
    try {
        const auto result = std::make_shared<OperationResult>(job->handler->run(context));
        ending = job->leave_run([result] { return std::move(*result); }, false);
    } catch (const Error& e) {
        ending = job->leave_run(thrown(e), true);
    } catch (const std::exception& e) {
        ending = job->leave_run(thrown(Error(ErrorCode::internal, e.what())), true);
    }
    if (ending) finish(job, *ending);
}

// True: the work is to be run now.
bool Engine::Implementation::begin(const JobPtr& job) {
    std::optional<Error> instead;
    {
        std::lock_guard order(job->order);
        if (job->phase != Phase::queued) return false;
        --queued_;
        if (job->cancel_requested) {
            instead.emplace(ErrorCode::cancelled, "Operation cancelled");
        } else if (stopping_) {
            job->phase = Phase::left;
            return false;
        } else {
            instead = job->interrupted;
        }
        job->phase = instead ? Phase::ending : Phase::running;
        if (!instead) job->enter_run();
    }
    if (instead) conclude(*job, fail(*job, *instead));
    return !instead;
}

void Engine::Implementation::finish(const JobPtr& job, const Ending& ending) {
    {
        std::lock_guard order(job->order);
        job->phase = Phase::ending;  // neither progress nor cancellation from here on
    }
    std::optional<Outcome> outcome;
    try {
        outcome = succeed(*job, ending);
    } catch (const Error& e) {
        if (stopping_ && !job->cancel_requested && is_end_of_service(*job, e)) return leave(*job);
        outcome = fail(*job, e);
    } catch (const std::exception& e) {
        outcome = fail(*job, Error(ErrorCode::internal, e.what()));
    }
    conclude(*job, *outcome);
}

Engine::Implementation::Outcome Engine::Implementation::succeed(const Job& job, const Ending& ending) {
    const OperationResult result = ending();
    Operation record = ended(*job.record(), OperationStatus::success, clock_.now(), result.metadata);
    commit_final(record, result);
    return {std::make_shared<const Operation>(std::move(record)), result.after, true};
}

Engine::Implementation::Outcome Engine::Implementation::fail(const Job& job, const Error& error) {
    const bool cancelled = was_cancelled(job, error);
    const OperationResult undone = undo(job, error);
    const auto status = cancelled ? OperationStatus::cancelled : OperationStatus::failure;
    Operation record = ended(*job.record(), status, clock_.now(), undone.metadata);
    record.err = cancelled ? "Operation cancelled" : clipped(error.what(), max_err_bytes);
    if (!cancelled) log::warning("operation failed", {{"kind", record.kind}, {"error", record.err}});
    // The operation ends even if what the undoing wants to change is refused, and if nothing can be stored at
    // all.
    const bool stored = try_commit_final(record, undone) || try_commit_final(record, {});
    return {std::make_shared<const Operation>(std::move(record)), undone.after, stored};
}

// Work may see what a deletion has stored before that deletion asks it to stop, or when it is too late to
// ask: it was cancelled all the same.
bool Engine::Implementation::was_cancelled(const Job& job, const Error& error) const {
    if (error.code() != ErrorCode::cancelled) return false;
    if (job.cancel_requested) return true;
    const auto cancels = [this](const std::string& id) {
        const JobPtr waiting = find_job(id);
        return waiting && waiting->record()->cancels_holders;
    };
    return job.record()->may_cancel && std::ranges::any_of(claims_.behind(job.id), cancels);
}

OperationResult Engine::Implementation::undo(const Job& job, const Error& error) const {
    if (job.handler == nullptr || !job.handler->undo) return {};
    try {
        return job.handler->undo(*job.record(), error);
    } catch (const std::exception& e) {
        log::error("undoing an operation failed", {{"kind", job.record()->kind}, {"error", e.what()}});
        return {};
    }
}

void Engine::Implementation::commit_final(const Operation& record, const OperationResult& result) {
    int conflicts = 0;
    int refusals = 0;
    Duration pause = first_pause;
    for (;;) {
        try {
            Batch batch = result.last;
            if (result.stage) result.stage(batch);
            records_.stage_update(batch, record.id.str(), [&record](Operation& stored) { stored = record; });
            store_.commit(batch);
            return;
        } catch (const Error& e) {
            const bool moved = e.code() == ErrorCode::conflict && result.stage && ++conflicts < max_conflicts;
            const bool away = e.code() == ErrorCode::unavailable && ++refusals < max_refusals;
            if (e.code() == ErrorCode::unavailable && has_ended(record)) return;  // only the answer was lost
            if (!moved && !away) throw;
            if (away) clock_.wait(stopping_source_.get_token(), std::exchange(pause, pause * 4));
        }
    }
}

bool Engine::Implementation::has_ended(const Operation& record) const {
    const OperationPtr stored = records_.find(record.id.str());
    return stored && is_final(stored->status);
}

bool Engine::Implementation::try_commit_final(const Operation& record, const OperationResult& result) {
    try {
        commit_final(record, result);
        return true;
    } catch (const Error& e) {
        log::error("end of an operation could not be stored", {{"kind", record.kind}, {"error", e.what()}});
        return false;
    }
}

// What the work changed is told of first; then its claims are free; then it is seen to have ended. So nobody
// who knows that it has ended meets `busy`.
void Engine::Implementation::conclude(Job& job, const Outcome& outcome) {
    try {
        if (outcome.after) outcome.after();
    } catch (const std::exception& e) {
        log::error("telling what an operation changed failed", {{"error", e.what()}});
    }
    const auto next = claims_.leave(job.id);
    job.set_record(outcome.record);
    publish(*outcome.record);
    {
        std::lock_guard order(job.order);
        job.phase = Phase::ended;
    }
    const JobPtr alive = job.shared_from_this();
    if (outcome.stored) forget_job(job.id);
    tell_waiters(job);
    dispatch_all(next);
    settle(job);
}

void Engine::Implementation::tell_waiters(Job& job) {
    for (const auto& waiter : job.take_waiters()) {
        if (const auto ticket = waiter->ticket()) timer_.cancel(ticket);
        waiter->fire(job.record());
    }
}

}  // namespace svc

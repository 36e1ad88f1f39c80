#include "libsvc/operations/engine.h"

#include <algorithm>
#include <future>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

// What the request that starts the operation is answered with: the record, and its secrets if it has any.
OperationPtr with_metadata(const OperationPtr& record, const Json& metadata) {
    if (record->metadata == metadata) return record;
    Operation answer = *record;
    answer.metadata = metadata;
    return std::make_shared<const Operation>(std::move(answer));
}

}  // namespace

Engine::Engine(Store& store, EventBus& events, Clock& clock, IdSource& ids, EngineOptions options)
    : events_(events),
      clock_(clock),
      ids_(ids),
      options_(options),
      records_(store, clock, shutdown_.gave_up()),
      jobs_([this](const JobPtr& job) { runner_.dispatch(job); }),
      queue_(options.max_queued),
      canceller_(records_, jobs_, events, clock),
      timer_(clock, "operation-timer"),
      runner_({records_, jobs_, claims_, queue_, shutdown_, events, clock, timer_}, options.workers) {}

Engine::~Engine() {
    join();
}

void Engine::handle(std::string kind, OperationHandler handler) {
    jobs_.handle(std::move(kind), std::move(handler));
}

Operation Engine::new_record(OperationSpec spec) const {
    Operation record;
    record.id = OperationId(spec.id.empty() ? ids_.uuid() : std::move(spec.id));
    record.cls = spec.cls;
    record.kind = std::move(spec.kind);
    record.description = std::move(spec.description);
    record.created_at = record.updated_at = clock_.now();
    record.status = OperationStatus::running;
    record.resources = std::move(spec.resources);
    record.metadata = without_secrets(std::move(spec.metadata));
    record.may_cancel = spec.cancellable;
    record.requestor = std::move(spec.requestor);
    record.arguments = std::move(spec.arguments);
    record.claims = std::move(spec.claims);
    record.cancels_holders = spec.cancel_holders;
    return record;
}

OperationPtr Engine::start(OperationSpec spec, Batch batch) {
    if (!jobs_.handles(spec.kind))
        throw Error(ErrorCode::internal, "no handler for operations of kind '" + spec.kind + "'");
    const auto if_held = spec.wait_for_claims ? Claims::IfHeld::queue : Claims::IfHeld::refuse;
    const Json answered = spec.metadata;
    const JobPtr job = jobs_.make(new_record(std::move(spec)));
    const OperationPtr record = job->record();
    if (shutdown_.begun()) throw Error(ErrorCode::unavailable, "service is stopping");
    queue_.enter();
    if (!jobs_.add(job)) {
        queue_.leave();
        throw Error(ErrorCode::conflict, "operation already exists");
    }
    const auto ahead = accept(*job, if_held, std::move(batch));
    failpoint("engine.announced");
    if (record->cancels_holders) canceller_.try_cancel(ahead);
    if (claims_.ready(job->id)) runner_.dispatch(job);
    return with_metadata(record, answered);
}

// Claims, stores and announces; returns the operations that are ahead.
std::vector<std::string> Engine::accept(Job& job, Claims::IfHeld if_held, Batch batch) {
    std::lock_guard order(job.order);
    const OperationPtr record = job.record();
    std::vector<std::string> ahead;
    try {
        ahead = claims_.enter(job.id, record->description, record->claims, if_held);
        records_.create(*record, std::move(batch));
    } catch (...) {
        take_back(job);
        throw;
    }
    failpoint("engine.accepted");
    job.phase = JobPhase::queued;
    job.visible = true;
    Operation pending = *record;
    pending.status = OperationStatus::pending;
    events_.publish(EventType::operation, to_json(pending));
    events_.publish(EventType::operation, to_json(*record));
    return ahead;
}

void Engine::take_back(Job& job) {
    job.phase = JobPhase::refused;
    jobs_.remove(job.id);
    queue_.leave();
    runner_.dispatch_ready(claims_.leave(job.id));
}

OperationPtr Engine::get(std::string_view id) const {
    const JobPtr job = jobs_.find(id);
    return job && job->visible ? job->record() : records_.get(id);
}

std::vector<OperationPtr> Engine::list() const {
    // First the jobs: a job that is gone by then is in the collection with its final record.
    std::unordered_map<std::string, OperationPtr> live;
    for (const JobPtr& job : jobs_.all())
        if (job->visible) live.emplace(job->id, job->record());
    std::vector<OperationPtr> all = records_.list();
    for (OperationPtr& record : all) {
        const auto found = live.find(record->id.str());
        if (found != live.end()) record = found->second;
    }
    std::sort(all.begin(), all.end(), [](const OperationPtr& a, const OperationPtr& b) {
        return std::tie(a->created_at, a->id) < std::tie(b->created_at, b->id);
    });
    return all;
}

EngineLoad Engine::load() const {
    const std::size_t all = jobs_.size();
    const std::size_t queued = std::min(queue_.queued(), all);
    return {queued, all - queued};
}

void Engine::when_final(std::string_view id, std::optional<Duration> timeout,
                        std::function<void(OperationPtr)> done) {
    const auto listener = std::make_shared<FinalListener>(std::move(done));
    const JobPtr job = jobs_.find(id);
    if (!job) return listener->call(records_.get(id));
    if (!job->visible) records_.get(id);  // throws, unless it is committed and only about to be announced
    if ((timeout && *timeout <= Duration::zero()) || !job->listeners.add(listener))
        return listener->call(job->record());
    if (!timeout) return;
    const auto ticket = timer_.after(*timeout, [job, listener] {
        job->listeners.remove(listener);
        listener->call(job->record());
    });
    if (!listener->keep_timeout(ticket)) timer_.cancel(ticket);
}

OperationPtr Engine::wait(std::string_view id, std::optional<Duration> timeout) {
    const auto result = std::make_shared<std::promise<OperationPtr>>();
    when_final(id, timeout, [result](OperationPtr record) { result->set_value(std::move(record)); });
    return result->get_future().get();
}

void Engine::sweep() {
    store_unstored();
    undo_again();
    take_up_late();
    records_.remove_finished(options_.keep_finished, options_.keep_for);
}

// The jobs that have ended while the store refused their final record.
void Engine::store_unstored() {
    for (const JobPtr& job : jobs_.all()) {
        {
            std::lock_guard order(job->order);
            if (job->phase != JobPhase::ended) continue;
        }
        if (!records_.try_finish(*job->record(), {})) jobs_.remove(job->id);
    }
}

// The jobs that keep their claims, since the store has refused their undo.
void Engine::undo_again() {
    if (shutdown_.begun()) return;
    for (const JobPtr& job : jobs_.all()) {
        {
            std::lock_guard order(job->order);
            if (job->phase != JobPhase::left) continue;
            job->phase = JobPhase::queued;
        }
        queue_.enter_anyway();
        runner_.dispatch(job);
    }
}

// A job is in the table before its record is stored, and until its end is: who is missing has none.
void Engine::take_up_late() {
    if (shutdown_.begun()) return;
    std::vector<JobPtr> late;
    for (const OperationPtr& record : records_.unfinished()) {
        if (jobs_.find(record->id.str())) continue;
        const OperationPtr now = records_.stored().find(record->id.str());
        if (!now || is_final(now->status)) continue;  // it has ended since the list was made
        if (JobPtr job = recover_one(*now, "it was accepted late: nobody was told of it"))
            late.push_back(job);
    }
    for (const JobPtr& job : late)
        if (claims_.ready(job->id)) runner_.dispatch(job);
}

void Engine::recover() {
    std::vector<JobPtr> recovered;
    for (const OperationPtr& record : records_.unfinished())
        if (JobPtr job = recover_one(*record, "service restarted")) recovered.push_back(std::move(job));
    // Only now, when all hold or await their claims again: what the work of one starts must not get ahead of
    // another.
    for (const JobPtr& job : recovered)
        if (claims_.ready(job->id)) runner_.dispatch(job);
}

// Null: somebody works on it.
JobPtr Engine::recover_one(const Operation& record, const char* reason) {
    JobPtr job = jobs_.make(record);
    {
        std::lock_guard order(job->order);
        job->phase = JobPhase::queued;
        job->resumed = true;
        if (record.status == OperationStatus::cancelling)
            job->cancel_requested = true;
        else if (!job->resumable())
            job->interrupted.emplace(ErrorCode::internal, reason);
    }
    job->visible = true;
    if (!jobs_.add(job)) return nullptr;
    queue_.enter_anyway();
    failpoint("engine.recovered_one");
    log::info("operation recovered", {{"operation", job->id}, {"kind", record.kind}});
    const auto ahead = claims_.enter(job->id, record.description, record.claims, Claims::IfHeld::queue);
    // A deletion cancels the holders that it waits for: the earlier process may not have got that far.
    if (record.cancels_holders) canceller_.try_cancel(ahead);
    return job;
}

void Engine::stop(Duration grace) {
    if (!shutdown_.begin()) return;
    const SteadyTime end = clock_.steady_now() + grace;
    for (const JobPtr& job : jobs_.all()) {
        const bool in_time = clock_.steady_now() < end;
        if (in_time && !job->resumable() && job->record()->may_cancel) canceller_.try_cancel(job->id);
        shutdown_.await(*job);
        job->work.ask_to_stop();
    }
    shutdown_.wait(timer_, end - clock_.steady_now());
    shutdown_.give_up();
    store_unstored();
    for (const JobPtr& job : jobs_.all()) job->listeners.tell(job->record(), timer_);
}

void Engine::join() {
    stop(Duration::zero());
    for (const JobPtr& job : jobs_.all()) job->work.disconnect();
    runner_.stop();
}

}  // namespace svc

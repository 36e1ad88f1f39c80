#include "libsvc/operations/engine.h"

#include <algorithm>
#include <future>
#include <limits>
#include <unordered_map>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/operations/engine_implementation.h"

namespace svc {

namespace {

// However many have finished: whoever follows an event must still find the record.
constexpr Duration always_kept = std::chrono::seconds(5);
constexpr std::size_t removals_per_commit = 200;

Json merged(Json metadata, const Json& more) {
    if (!metadata.is_object() || !more.is_object()) return more;
    for (const auto& [key, value] : more.as_object()) metadata.set(key, value);
    return metadata;
}

}  // namespace

Engine::Implementation::Implementation(Store& store, EventBus& events, Clock& clock, IdSource& ids,
                                       EngineOptions options)
    : store_(store),
      events_(events),
      clock_(clock),
      ids_(ids),
      options_(options),
      records_(store),
      timer_(clock, "operation-timer"),
      pool_("operations", options.workers, std::numeric_limits<std::size_t>::max()) {}

void Engine::Implementation::handle(std::string kind, OperationHandler handler) {
    handlers_.insert_or_assign(std::move(kind), std::move(handler));
}

JobPtr Engine::Implementation::make_job(Operation record) {
    const auto handler = handlers_.find(record.kind);
    return std::make_shared<Job>(std::make_shared<const Operation>(std::move(record)),
                                 handler == handlers_.end() ? nullptr : &handler->second,
                                 [this](const JobPtr& job) { dispatch(job); });
}

Operation Engine::Implementation::new_record(OperationSpec spec) const {
    Operation record;
    record.id = OperationId(spec.id.empty() ? ids_.uuid() : std::move(spec.id));
    record.cls = spec.cls;
    record.kind = std::move(spec.kind);
    record.description = std::move(spec.description);
    record.created_at = record.updated_at = clock_.now();
    record.status = OperationStatus::running;
    record.resources = std::move(spec.resources);
    record.metadata = std::move(spec.metadata);
    record.may_cancel = spec.cancellable;
    record.requestor = std::move(spec.requestor);
    record.arguments = std::move(spec.arguments);
    record.claims = std::move(spec.claims);
    record.cancels_holders = spec.cancel_holders;
    return record;
}

void Engine::Implementation::reserve_place() {
    if (stopping_) throw Error(ErrorCode::unavailable, "service is stopping");
    if (queued_.fetch_add(1) < options_.max_queued) return;
    --queued_;
    throw Error(ErrorCode::exhausted, "operation queue is full");
}

OperationPtr Engine::Implementation::start(OperationSpec spec, Batch batch) {
    if (!handlers_.contains(spec.kind))
        throw Error(ErrorCode::internal, "no handler for operations of kind '" + spec.kind + "'");
    const auto if_held = spec.wait_for_claims ? Claims::IfHeld::queue : Claims::IfHeld::refuse;
    const JobPtr job = make_job(new_record(std::move(spec)));
    OperationPtr record = job->record();
    reserve_place();
    if (!add_job(job)) {
        --queued_;
        throw Error(ErrorCode::conflict, "operation already exists");
    }
    const auto ahead = accept(*job, if_held, std::move(batch));
    if (record->cancels_holders) cancel_ahead(ahead);
    if (claims_.ready(job->id)) dispatch(job);
    return record;
}

// Claims, stores and announces; returns who is ahead.
std::vector<std::string> Engine::Implementation::accept(Job& job, Claims::IfHeld if_held, Batch batch) {
    std::lock_guard order(job.order);
    const OperationPtr record = job.record();
    std::vector<std::string> ahead;
    try {
        ahead = claims_.enter(job.id, record->description, record->claims, if_held);
        commit_start(*record, std::move(batch));
    } catch (...) {
        take_back(job);
        throw;
    }
    job.phase = Phase::queued;
    job.visible = true;
    Operation pending = *record;
    pending.status = OperationStatus::pending;
    publish(pending);
    publish(*record);
    return ahead;
}

void Engine::Implementation::commit_start(const Operation& record, Batch batch) {
    Batch together;
    records_.stage_create(together, record);
    together.append(std::move(batch));
    try {
        store_.commit(together);
    } catch (const Error& e) {
        // Committed, and only the answer was lost.
        if (e.code() == ErrorCode::unavailable && records_.find(record.id.str())) return;
        throw;
    }
}

void Engine::Implementation::take_back(Job& job) {
    job.phase = Phase::refused;
    forget_job(job.id);
    --queued_;
    dispatch_all(claims_.leave(job.id));
}

void Engine::Implementation::cancel_ahead(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
        const JobPtr job = find_job(id);
        if (!job) continue;
        try {
            cancel(*job);
        } catch (const Error& e) {
            log::debug("operation ahead is waited for", {{"operation", id}, {"reason", e.what()}});
        }
    }
}

void Engine::Implementation::cancel(std::string_view id) {
    if (const JobPtr job = find_job(id)) return cancel(*job);
    records_.get(id);
    throw Error(ErrorCode::invalid_argument, "Only running operations can be cancelled");
}

void Engine::Implementation::cancel(Job& job) {
    {
        std::lock_guard order(job.order);
        if (job.phase == Phase::refused) throw Error(ErrorCode::not_found, "operation not found");
        if ((job.phase != Phase::queued && job.phase != Phase::running) || job.cancel_requested)
            throw Error(ErrorCode::invalid_argument, "Only running operations can be cancelled");
        Operation record = *job.record();
        if (!record.may_cancel) throw Error(ErrorCode::invalid_argument, "This operation can't be cancelled");
        record.status = OperationStatus::cancelling;
        record.updated_at = clock_.now();
        try {
            records_.update(job.id, [&record](Operation& stored) { stored = record; });
        } catch (const Error& e) {
            // Cancelling may be what frees the disk: it goes on, only a crash right now would not know of it.
            log::warning("cancellation could not be stored", {{"operation", job.id}, {"error", e.what()}});
        }
        job.cancel_requested = true;
        job.set_record(std::make_shared<const Operation>(record));
        publish(record);
    }
    job.ask_to_stop();
}

void Engine::Implementation::progress(Job& job, const Json& metadata) {
    std::lock_guard order(job.order);
    if (job.phase != Phase::running) return;
    Operation record = *job.record();
    record.metadata = merged(std::move(record.metadata), metadata);
    record.updated_at = clock_.now();
    job.set_record(std::make_shared<const Operation>(record));
    const SteadyTime now = clock_.steady_now();
    if (job.last_progress_event && now - *job.last_progress_event < std::chrono::seconds(1)) return;
    job.last_progress_event = now;
    publish(record);
}

bool Engine::Implementation::add_job(const JobPtr& job) {
    std::unique_lock lock(jobs_mutex_);
    return jobs_.emplace(job->id, job).second;
}

JobPtr Engine::Implementation::find_job(std::string_view id) const {
    std::shared_lock lock(jobs_mutex_);
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : found->second;
}

std::vector<JobPtr> Engine::Implementation::jobs() const {
    std::vector<JobPtr> all;
    std::shared_lock lock(jobs_mutex_);
    all.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) all.push_back(job);
    return all;
}

void Engine::Implementation::forget_job(const std::string& id) {
    JobPtr forgotten;  // destroyed after the lock
    std::unique_lock lock(jobs_mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    forgotten = std::move(found->second);
    jobs_.erase(found);
    lock.unlock();
}

void Engine::Implementation::publish(const Operation& record) {
    events_.publish(EventType::operation, to_json(record));
}

OperationPtr Engine::Implementation::get(std::string_view id) const {
    const JobPtr job = find_job(id);
    return job && job->visible ? job->record() : records_.get(id);
}

std::vector<OperationPtr> Engine::Implementation::list() const {
    // First the jobs: one that has gone by then is in the collection with its final record.
    std::unordered_map<std::string, OperationPtr> live;
    for (const JobPtr& job : jobs())
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

void Engine::Implementation::when_final(std::string_view id, std::optional<Duration> timeout,
                                        std::function<void(OperationPtr)> done) {
    const auto waiter = std::make_shared<Waiter>(std::move(done));
    const JobPtr job = find_job(id);
    if (!job) return waiter->fire(records_.get(id));
    if (!job->visible) records_.get(id);  // throws, unless it is committed and only about to be told of
    if ((timeout && *timeout <= Duration::zero()) || !job->add_waiter(waiter))
        return waiter->fire(job->record());
    if (!timeout) return;
    const auto ticket = timer_.after(*timeout, [job, waiter] {
        job->drop_waiter(waiter);
        waiter->fire(job->record());
    });
    if (!waiter->keep_ticket(ticket)) timer_.cancel(ticket);
}

void Engine::Implementation::sweep() {
    store_unstored();
    std::vector<OperationPtr> finished;
    for (OperationPtr& record : records_.list())
        if (is_final(record->status)) finished.push_back(std::move(record));
    std::sort(finished.begin(), finished.end(),
              [](const OperationPtr& a, const OperationPtr& b) { return a->updated_at > b->updated_at; });
    const Time now = clock_.now();
    std::vector<std::string> leaving;
    for (std::size_t i = 0; i < finished.size(); ++i) {
        const Duration age = now - finished[i]->updated_at;
        if (age >= options_.keep_for || (i >= options_.keep_finished && age >= always_kept))
            leaving.push_back(finished[i]->id.str());
    }
    remove_finished(leaving);
}

void Engine::Implementation::remove_finished(const std::vector<std::string>& ids) {
    for (std::size_t begin = 0; begin < ids.size(); begin += removals_per_commit) {
        Batch batch;
        for (std::size_t i = begin; i < std::min(ids.size(), begin + removals_per_commit); ++i)
            records_.stage_remove(batch, ids[i]);
        if (!batch.empty()) store_.commit(batch);
    }
}

// Ended, but the store refused the final record then.
void Engine::Implementation::store_unstored() {
    for (const JobPtr& job : jobs()) {
        {
            std::lock_guard order(job->order);
            if (job->phase != Phase::ended) continue;
        }
        if (try_commit_final(*job->record(), {})) forget_job(job->id);
    }
}

Engine::Engine(Store& store, EventBus& events, Clock& clock, IdSource& ids, EngineOptions options)
    : implementation_(std::make_unique<Implementation>(store, events, clock, ids, options)) {}

Engine::~Engine() = default;

void Engine::handle(std::string kind, OperationHandler handler) {
    implementation_->handle(std::move(kind), std::move(handler));
}

void Engine::recover() {
    implementation_->recover();
}

std::shared_ptr<const Operation> Engine::start(OperationSpec spec, Batch batch) {
    return implementation_->start(std::move(spec), std::move(batch));
}

void Engine::cancel(std::string_view id) {
    implementation_->cancel(id);
}

std::shared_ptr<const Operation> Engine::get(std::string_view id) const {
    return implementation_->get(id);
}

std::vector<std::shared_ptr<const Operation>> Engine::list() const {
    return implementation_->list();
}

bool Engine::claimed(std::string_view claim) const {
    return implementation_->claimed(claim);
}

void Engine::when_final(std::string_view id, std::optional<Duration> timeout,
                        std::function<void(std::shared_ptr<const Operation>)> done) {
    implementation_->when_final(id, timeout, std::move(done));
}

std::shared_ptr<const Operation> Engine::wait(std::string_view id, std::optional<Duration> timeout) {
    const auto result = std::make_shared<std::promise<OperationPtr>>();
    when_final(id, timeout, [result](OperationPtr record) { result->set_value(std::move(record)); });
    return result->get_future().get();
}

void Engine::sweep() {
    implementation_->sweep();
}

void Engine::stop(Duration grace) {
    implementation_->stop(grace);
}

void Engine::join() {
    implementation_->join();
}

}  // namespace svc

#include "libsvc/operations/context.h"

#include <chrono>
#include <utility>

#include "libsvc/operations/job.h"
#include "libsvc/operations/records.h"

namespace svc {

namespace {

constexpr Duration progress_interval = std::chrono::seconds(1);  // between two events of one operation

Json merged(Json before, const Json& more) {
    if (!before.is_object() || !more.is_object()) return more;
    for (const auto& [key, value] : more.as_object()) before.set(key, value);
    return before;
}

}  // namespace

OperationCompletion::OperationCompletion(std::shared_ptr<Job> job) : job_(std::move(job)) {}

OperationCompletion::~OperationCompletion() {
    fail(Error(ErrorCode::internal, "the work was given up without a result"));
}

void OperationCompletion::succeed(LastStep last) {
    job_->work.complete(std::move(last));
}

void OperationCompletion::fail(const Error& error) {
    job_->work.complete([error]() -> OperationResult { throw Error(error); });
}

OperationContext::OperationContext(OperationRecords& records, EventBus& events, Clock& clock,
                                   std::shared_ptr<Job> job)
    : records_(records), events_(events), clock_(clock), job_(std::move(job)), record_(job_->record()) {}

std::stop_token OperationContext::stop() const {
    return job_->work.stop_token();
}

bool OperationContext::cancel_requested() const {
    return job_->cancel_requested;
}

bool OperationContext::resumed() const {
    return job_->resumed;
}

void OperationContext::progress(const Json& metadata) {
    std::lock_guard order(job_->order);
    if (job_->phase != JobPhase::running) return;
    Operation record = *job_->record();
    record.metadata = merged(std::move(record.metadata), metadata);
    record.updated_at = clock_.now();
    job_->set_record(std::make_shared<const Operation>(record));
    const SteadyTime now = clock_.steady_now();
    if (job_->last_progress_event && now - *job_->last_progress_event < progress_interval) return;
    job_->last_progress_event = now;
    events_.publish(EventType::operation, to_json(record));
}

void OperationContext::keep(const Json& arguments) {
    std::lock_guard order(job_->order);
    Operation record = *job_->record();
    record.arguments = merged(std::move(record.arguments), arguments);
    records_.save(record);
    job_->set_record(std::make_shared<const Operation>(std::move(record)));
}

std::shared_ptr<OperationCompletion> OperationContext::detach(std::function<void()> on_stop) {
    job_->work.detach(std::move(on_stop));
    return std::make_shared<OperationCompletion>(job_);
}

}  // namespace svc

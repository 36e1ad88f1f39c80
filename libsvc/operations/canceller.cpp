#include "libsvc/operations/canceller.h"

#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"

namespace svc {

Canceller::Canceller(OperationRecords& records, JobTable& jobs, EventBus& events, Clock& clock)
    : records_(records), jobs_(jobs), events_(events), clock_(clock) {}

void Canceller::cancel(std::string_view id) {
    if (const JobPtr job = jobs_.find(id)) return cancel(*job);
    records_.get(id);
    throw Error(ErrorCode::invalid_argument, "Only running operations can be cancelled");
}

void Canceller::try_cancel(const std::string& id) {
    const JobPtr job = jobs_.find(id);
    if (!job) return;
    try {
        cancel(*job);
    } catch (const Error& e) {
        log::debug("operation ahead is waited for", {{"operation", id}, {"reason", e.what()}});
    }
}

void Canceller::try_cancel(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) try_cancel(id);
}

void Canceller::cancel(Job& job) {
    begin_cancel(job);
    job.work.ask_to_stop();
}

void Canceller::begin_cancel(Job& job) {
    std::lock_guard order(job.order);
    if (job.phase == JobPhase::refused) throw Error(ErrorCode::not_found, "operation not found");
    if ((job.phase != JobPhase::queued && job.phase != JobPhase::running) || job.cancel_requested)
        throw Error(ErrorCode::invalid_argument, "Only running operations can be cancelled");
    Operation record = *job.record();
    if (!record.may_cancel) throw Error(ErrorCode::invalid_argument, "This operation can't be cancelled");
    record.status = OperationStatus::cancelling;
    record.updated_at = clock_.now();
    try {
        records_.save(record);
    } catch (const Error& e) {
        // Cancelling may be what frees the disk, so it goes on: only a crash right now would forget it.
        log::warning("cancellation could not be stored", {{"operation", job.id}, {"error", e.what()}});
    }
    failpoint("engine.cancel_stored");
    job.cancel_requested = true;
    job.set_record(std::make_shared<const Operation>(record));
    events_.publish(EventType::operation, to_json(record));
}

}  // namespace svc

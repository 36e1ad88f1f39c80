// What an earlier process left unfinished, and leaving things to the next one.
#include <algorithm>
#include <tuple>
#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/operations/engine_implementation.h"

namespace svc {

void Engine::Implementation::recover() {
    std::vector<OperationPtr> unfinished;
    for (OperationPtr& record : records_.list())
        if (!is_final(record->status)) unfinished.push_back(std::move(record));
    // In the order they were accepted, for that is the order in which they held and awaited their claims.
    std::sort(unfinished.begin(), unfinished.end(), [](const OperationPtr& a, const OperationPtr& b) {
        return std::tie(a->created_at, a->id) < std::tie(b->created_at, b->id);
    });
    std::vector<JobPtr> jobs;
    jobs.reserve(unfinished.size());
    for (const OperationPtr& record : unfinished) jobs.push_back(recover_one(*record));
    // Only now, when all are in their places: what the work of one starts must not get ahead of another.
    for (const JobPtr& job : jobs)
        if (claims_.ready(job->id)) dispatch(job);
}

JobPtr Engine::Implementation::recover_one(const Operation& record) {
    JobPtr job = make_job(record);
    {
        std::lock_guard order(job->order);
        job->phase = Phase::queued;
        job->resumed = true;
        if (record.status == OperationStatus::cancelling)
            job->cancel_requested = true;
        else if (job->handler == nullptr || !job->handler->resumable)
            job->interrupted.emplace(ErrorCode::internal, "service restarted");
    }
    job->visible = true;
    ++queued_;
    add_job(job);
    log::info("operation recovered", {{"operation", job->id}, {"kind", record.kind}});
    const auto ahead = claims_.enter(job->id, record.description, record.claims, Claims::IfHeld::queue);
    // A deletion wants those that it waits for cancelled: the restart may have forestalled that.
    if (record.cancels_holders) cancel_ahead(ahead);
    return job;
}

void Engine::Implementation::leave(Job& job) {
    {
        std::lock_guard order(job.order);
        job.phase = Phase::left;
    }
    log::info("operation left to the next start", {{"operation", job.id}});
    settle(job);
}

void Engine::Implementation::settle(Job& job) {
    {
        std::lock_guard order(job.order);
        if (!std::exchange(job.awaited, false)) return;
    }
    {
        std::lock_guard lock(idle_mutex_);
        --awaited_;
    }
    idle_.notify_all();
}

void Engine::Implementation::stop(Duration grace) {
    if (stopping_.exchange(true)) return;
    const SteadyTime end = clock_.steady_now() + grace;
    for (const JobPtr& job : jobs()) stop_job(*job, clock_.steady_now() < end);
    await_idle(end - clock_.steady_now());
    stopping_source_.request_stop();
    store_unstored();
    for (const JobPtr& job : jobs()) tell_waiters(*job);
}

void Engine::Implementation::stop_job(Job& job, bool in_time) {
    const bool resumable = job.handler != nullptr && job.handler->resumable;
    if (in_time && !resumable && job.record()->may_cancel) cancel_ahead({job.id});
    {
        std::lock_guard order(job.order);
        job.awaited = job.phase == Phase::running || job.phase == Phase::ending ||
                      (job.phase == Phase::queued && job.cancel_requested);
        if (job.awaited) {
            std::lock_guard lock(idle_mutex_);
            ++awaited_;
        }
    }
    job.ask_to_stop();
}

void Engine::Implementation::await_idle(Duration grace) {
    const auto ticket = timer_.after(grace, [this] {
        {
            std::lock_guard lock(idle_mutex_);
            grace_over_ = true;
        }
        idle_.notify_all();
    });
    std::unique_lock lock(idle_mutex_);
    idle_.wait(lock, [this] { return awaited_ == 0 || grace_over_; });
    lock.unlock();
    timer_.cancel(ticket);
}

void Engine::Implementation::join() {
    stop(Duration::zero());
    for (const JobPtr& job : jobs()) job->disconnect();
    pool_.stop();
}

Engine::Implementation::~Implementation() {
    join();
}

}  // namespace svc

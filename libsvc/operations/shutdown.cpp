#include "libsvc/operations/shutdown.h"

#include <utility>

namespace svc {

void Shutdown::await(Job& job) {
    std::lock_guard order(job.order);
    job.awaited = job.phase == JobPhase::running || job.phase == JobPhase::ending ||
                  (job.phase == JobPhase::queued && job.cancel_requested);
    if (!job.awaited) return;
    std::lock_guard lock(mutex_);
    ++awaited_;
}

void Shutdown::settled(Job& job) {
    {
        std::lock_guard order(job.order);
        if (!std::exchange(job.awaited, false)) return;
    }
    {
        std::lock_guard lock(mutex_);
        --awaited_;
    }
    changed_.notify_all();
}

void Shutdown::wait(Timer& timer, Duration grace) {
    const auto ticket = timer.after(grace, [this] {
        {
            std::lock_guard lock(mutex_);
            grace_over_ = true;
        }
        changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return awaited_ == 0 || grace_over_; });
    lock.unlock();
    timer.cancel(ticket);
}

}  // namespace svc

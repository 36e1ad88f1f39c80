#include "libsvc/base/periodic.h"

#include <pthread.h>

#include <algorithm>

#include "libsvc/base/log.h"

namespace svc {

namespace {

void run_job(const PeriodicJob& job, std::stop_token stop) {
    try {
        job.run(std::move(stop));
    } catch (const std::exception& e) {
        log::error("periodic job failed", {{"job", job.name}, {"error", e.what()}});
    }
}

}  // namespace

Periodic::Periodic(Clock& clock, std::vector<PeriodicJob> jobs)
    : clock_(clock),
      jobs_(std::move(jobs)),
      thread_([this, begin = clock.steady_now()](const std::stop_token& stop) { run(stop, begin); }) {}

Periodic::~Periodic() = default;

void Periodic::run(const std::stop_token& stop, SteadyTime begin) {
    pthread_setname_np(pthread_self(), "periodic");
    constexpr Duration longest_wait = std::chrono::minutes(1);  // a shortened interval counts within this
    std::vector<SteadyTime> last_run(jobs_.size(), begin);
    while (!stop.stop_requested()) {
        SteadyTime next = clock_.steady_now() + longest_wait;
        for (std::size_t i = 0; i < jobs_.size() && !stop.stop_requested(); ++i) {
            const Duration interval = jobs_[i].interval();
            if (interval <= Duration::zero()) continue;
            if (clock_.steady_now() - last_run[i] >= interval) {
                run_job(jobs_[i], stop);
                last_run[i] = clock_.steady_now();
            }
            next = std::min(next, last_run[i] + interval);
        }
        if (!clock_.wait_until(stop, next)) return;
    }
}

}  // namespace svc

#include "libsvc/services/applications/application_jobs.h"

#include <utility>

#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::size_t job_threads = 2;    // capture and the short steps of bootstraps
constexpr std::size_t max_jobs = 10'000;  // far more than there can be bootstraps

}  // namespace

ApplicationJobs::ApplicationJobs() : pool_("bootstraps", job_threads, max_jobs) {
    link_->jobs = this;
}

ApplicationJobs::~ApplicationJobs() {
    stop();
}

void ApplicationJobs::post(Job job) {
    if (!pool_.post(std::move(job))) log::debug("a job of the application service is dropped");
}

ApplicationJobs::Post ApplicationJobs::post_function() const {
    return [link = link_](Job job) {
        std::lock_guard lock(link->mutex);
        if (link->jobs != nullptr) link->jobs->post(std::move(job));
    };
}

void ApplicationJobs::stop() {
    {
        std::lock_guard lock(link_->mutex);
        link_->jobs = nullptr;
    }
    pool_.stop();
}

}  // namespace svc

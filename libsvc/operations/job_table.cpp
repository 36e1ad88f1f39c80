#include "libsvc/operations/job_table.h"

#include <mutex>
#include <utility>

namespace svc {

void JobTable::handle(std::string kind, OperationHandler handler) {
    handlers_.insert_or_assign(std::move(kind), std::move(handler));
}

JobPtr JobTable::make(Operation record) const {
    const auto handler = handlers_.find(record.kind);
    return std::make_shared<Job>(std::make_shared<const Operation>(std::move(record)),
                                 handler == handlers_.end() ? nullptr : &handler->second, dispatch_);
}

bool JobTable::add(const JobPtr& job) {
    std::unique_lock lock(mutex_);
    return jobs_.emplace(job->id, job).second;
}

JobPtr JobTable::find(std::string_view id) const {
    std::shared_lock lock(mutex_);
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : found->second;
}

std::vector<JobPtr> JobTable::all() const {
    std::vector<JobPtr> all;
    std::shared_lock lock(mutex_);
    all.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) all.push_back(job);
    return all;
}

std::size_t JobTable::size() const {
    std::shared_lock lock(mutex_);
    return jobs_.size();
}

void JobTable::remove(const std::string& id) {
    JobPtr removed;  // destroyed after the lock
    std::unique_lock lock(mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    removed = std::move(found->second);
    jobs_.erase(found);
    lock.unlock();
}

}  // namespace svc

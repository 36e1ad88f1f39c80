#pragma once
// The unfinished operations of this process, by id, and the handlers of all kinds.
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/operations/job.h"

namespace svc {

// Thread-safe, but for handle(): all of these calls come before the first job.
class JobTable {
  public:
    explicit JobTable(Job::Dispatch dispatch) : dispatch_(std::move(dispatch)) {}

    void handle(std::string kind, OperationHandler handler);
    bool handles(std::string_view kind) const { return handlers_.contains(kind); }

    JobPtr make(Operation record) const;     // is in the table after add() alone
    bool add(const JobPtr& job);             // false: the table has a job of this id
    JobPtr find(std::string_view id) const;  // null when absent
    std::vector<JobPtr> all() const;
    std::size_t size() const;
    void remove(const std::string& id);  // absent: nothing happens

  private:
    const Job::Dispatch dispatch_;
    std::map<std::string, OperationHandler, std::less<>> handlers_;
    mutable std::shared_mutex mutex_;
    std::map<std::string, JobPtr, std::less<>> jobs_;
};

}  // namespace svc

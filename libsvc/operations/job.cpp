#include "libsvc/operations/job.h"

#include <utility>

namespace svc {

Job::Job(OperationPtr record, const OperationHandler* handler, Dispatch dispatch)
    : id(record->id.str()),
      handler(handler),
      work([this, dispatch = std::move(dispatch)] { dispatch(shared_from_this()); }),
      record_(std::move(record)) {}

OperationPtr Job::record() const {
    return record_.with([](const OperationPtr& record) { return record; });
}

void Job::set_record(OperationPtr record) {
    record_.with(
        [&record](OperationPtr& kept) { kept.swap(record); });  // the old one is freed after the lock
}

}  // namespace svc

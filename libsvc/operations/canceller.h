#pragma once
// Cancels unfinished operations.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/job_table.h"
#include "libsvc/operations/records.h"

namespace svc {

// Thread-safe. Stores and publishes that an operation is being cancelled, then asks its work to stop.
class Canceller {
  public:
    Canceller(OperationRecords& records, JobTable& jobs, EventBus& events, Clock& clock);

    // Throws not_found; invalid_argument "Only running operations can be cancelled", "This operation can't be
    // cancelled".
    void cancel(std::string_view id);
    void try_cancel(const std::string& id);  // an operation that cannot be cancelled goes on
    void try_cancel(const std::vector<std::string>& ids);

  private:
    void cancel(Job& job);
    void begin_cancel(Job& job);

    OperationRecords& records_;
    JobTable& jobs_;
    EventBus& events_;
    Clock& clock_;
};

}  // namespace svc

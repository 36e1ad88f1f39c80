#pragma once
// The reports of a simulated runtime that its guests are up. The runtime is built before the service that
// takes the reports, so this object stands between the two: give the runtime a function that calls running(),
// and the object to ManagementSeams.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <string_view>

#include "libsvc/services/instances/reports/instance_reports.h"

namespace svc {

// Thread-safe. Outlives the runtime.
class GuestReports {
  public:
    // Waits until open() was called, then reports that the guest of the instance is `running`, and again
    // every 20 ms while the service answers `unavailable`, as the agent does. Drops the report once close()
    // was called.
    void running(std::string_view instance_id);
    // `service` is used until close(). A later open() takes reports again.
    void open(InstanceReports& service);
    void close();  // no call of running() is in the service when this returns

  private:
    bool report(std::string_view instance_id);  // false: to be tried again

    std::shared_mutex mutex_;
    std::condition_variable_any changed_;
    InstanceReports* service_ = nullptr;
    bool closed_ = false;
};

}  // namespace svc

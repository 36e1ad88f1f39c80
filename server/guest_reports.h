#pragma once
// The simulated runtime's word that a guest is up, on its way to the service that is built after the runtime.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <string_view>

#include "libsvc/services/instances/instance_service.h"

namespace svc::server {

// Thread-safe.
class GuestReports {
  public:
    // Waits until the service is there, and asks again while it is not ready for the report, as the agent
    // does; says nothing more once it is closed.
    void running(std::string_view instance_id);
    void open(InstanceService& service);
    void close();  // no report is under way when this returns, and none comes later

  private:
    bool report(std::string_view instance_id);  // false: to be tried again

    std::shared_mutex mutex_;
    std::condition_variable_any changed_;
    InstanceService* service_ = nullptr;
    bool closed_ = false;
};

}  // namespace svc::server

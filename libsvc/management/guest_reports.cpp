#include "libsvc/management/guest_reports.h"

#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

void GuestReports::running(std::string_view instance_id) {
    constexpr std::chrono::milliseconds pause{20};
    std::shared_lock lock(mutex_);
    changed_.wait(lock, [this] { return service_ || closed_; });
    while (!closed_ && !report(instance_id)) changed_.wait_for(lock, pause);
}

bool GuestReports::report(std::string_view instance_id) {
    InstanceReport report;
    report.status = "running";
    try {
        // What the operation of the launch comes to is no longer the guest's matter.
        service_->take(instance_id, instance_id, report, [](const std::optional<Error>&) {});
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) return false;
        log::debug("report of a simulated guest was refused",
                   {{"instance", std::string(instance_id)}, {"error", e.what()}});
    }
    return true;
}

void GuestReports::open(InstanceReports& service) {
    {
        std::unique_lock lock(mutex_);
        service_ = &service;
        closed_ = false;
    }
    changed_.notify_all();
}

void GuestReports::close() {
    {
        std::unique_lock lock(mutex_);
        closed_ = true;
        service_ = nullptr;
    }
    changed_.notify_all();
}

}  // namespace svc

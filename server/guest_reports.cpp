#include "server/guest_reports.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::server {

void GuestReports::running(std::string_view instance_id) {
    std::shared_lock lock(mutex_);
    changed_.wait(lock, [this] { return service_ || closed_; });
    if (closed_) return;
    try {
        InstanceReport report;
        report.status = "running";
        service_->report(instance_id, instance_id, report);
    } catch (const Error& e) {
        log::debug("report of a simulated guest was refused",
                   {{"instance", std::string(instance_id)}, {"error", e.what()}});
    }
}

void GuestReports::open(InstanceService& service) {
    {
        std::unique_lock lock(mutex_);
        service_ = &service;
    }
    changed_.notify_all();
}

void GuestReports::close() {
    {
        std::unique_lock lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

}  // namespace svc::server

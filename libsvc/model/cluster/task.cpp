#include "libsvc/model/cluster/task.h"

namespace svc {

namespace {

std::string_view task_status(const Instance& instance) {
    switch (instance.status) {
        case InstanceStatus::error:
            return "error";
        case InstanceStatus::unknown:
            return "unknown";
        case InstanceStatus::created:
            return "created";
        case InstanceStatus::prepared:
            return "prepared";
        case InstanceStatus::started:
            return instance.stop_requested ? "shutdown" : "started";
        case InstanceStatus::running:
            return instance.stop_requested ? "shutdown" : "running";
        // A base instance bootstraps an application; its task is completed when it has stopped without an
        // error.
        case InstanceStatus::stopped:
            return instance.type == InstanceType::base ? "completed" : "stopped";
        case InstanceStatus::deleted:
            return "deleted";
    }
    return "unknown";
}

}  // namespace

Json task_of(const Instance& instance) {
    if (instance.task_id.empty()) return {};
    return Json::object({{"id", instance.task_id},
                         {"status", task_status(instance)},
                         {"object_id", instance.id.str()},
                         {"object_type", "container"}});
}

}  // namespace svc

#include "libsvc/model/cluster/task.h"

#include <catch2/catch.hpp>

namespace svc {
namespace {

using Status = InstanceStatus;

std::string status_of(InstanceStatus status, bool stop_requested = false,
                      InstanceType type = InstanceType::regular) {
    Instance instance;
    instance.task_id = "t";
    instance.status = status;
    instance.stop_requested = stop_requested;
    instance.type = type;
    return task_of(instance).at("status").as_string();
}

TEST_CASE("a task follows its instance") {
    CHECK(status_of(Status::error) == "error");
    CHECK(status_of(Status::unknown) == "unknown");
    CHECK(status_of(Status::created) == "created");
    CHECK(status_of(Status::prepared) == "prepared");
    CHECK(status_of(Status::started) == "started");
    CHECK(status_of(Status::started, true) == "shutdown");
    CHECK(status_of(Status::running) == "running");
    CHECK(status_of(Status::running, true) == "shutdown");
    CHECK(status_of(Status::stopped, true) == "stopped");
    CHECK(status_of(Status::deleted) == "deleted");
    CHECK(status_of(Status::stopped, false, InstanceType::base) == "completed");
}

TEST_CASE("the record of a task") {
    Instance instance;
    instance.id = InstanceId("i");
    CHECK(task_of(instance).is_null());
    instance.task_id = "t";
    CHECK(task_of(instance).dump() ==
          R"({"id":"t","status":"created","object_id":"i","object_type":"container"})");
}

}  // namespace
}  // namespace svc

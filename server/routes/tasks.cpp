#include "libsvc/model/cluster/task.h"
#include "server/http/etag.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

// Records also without recursion, because a task has no URL of its own.
Response list_tasks(const Services& services, const Request& request) {
    wants_records(request);
    const Instances& instances = services.instances.records();
    return unless_known(request, list_tag(instances),
                        [&] { return sync_list_of(request, instances, task_of); });
}

}  // namespace

std::vector<Route> task_routes(const Services& services) {
    return {{Method::get, "/1.0/tasks", Access::viewer, Dispatch::on_pool, "tasks",
             [services](Request& request) { return list_tasks(services, request); }}};
}

}  // namespace svc::server

#include "libsvc/services/instances/launch/new_instances.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/model/instances/guest_text.h"

namespace svc {

namespace {

// Else the container could not be stopped when its record has grown.
void check_size(const Instance& instance) {
    constexpr std::size_t most = Batch::max_value_bytes - room_to_grow;
    const std::size_t size = instance_to_store(instance).dump().size();
    if (size > most)
        throw Error(ErrorCode::invalid_argument, "container needs a record of " + std::to_string(size) +
                                                     " bytes, at most " + std::to_string(most) +
                                                     " are allowed: fewer tags, services or features");
}

}  // namespace

NewInstances::NewInstances(Instances& instances, NodeService& nodes, Engine& engine, Clock& clock,
                           const BootClock& boot_clock, IdSource& ids, InstanceChanges& changes)
    : instances_(instances),
      nodes_(nodes),
      engine_(engine),
      clock_(clock),
      boot_clock_(boot_clock),
      ids_(ids),
      changes_(changes) {}

void NewInstances::give_identity(Instance& instance) const {
    if (instance.id.str().empty()) instance.id = InstanceId(ids_.object_id());
    instance.task_id = ids_.object_id();
    instance.launch_operation = ids_.uuid();
    instance.created_at = instance.start_requested_at = clock_.now();
    instance.start_mark = boot_clock_.mark();
}

// Here, and not in the operation: one commit less, and no moment at which the container of an instance may
// be on a node that its record does not name.
bool NewInstances::place(Instance& instance, OperationSpec& spec) const {
    try {
        set_reservation(instance, nodes_.reserve(instance));
    } catch (const Error& e) {
        if (e.code() == ErrorCode::exhausted) wait_for_room(instance, spec);
        return false;
    }
    instance.status = InstanceStatus::prepared;
    return true;
}

void NewInstances::wait_for_room(const Instance& instance, OperationSpec& spec) const {
    if (instance.pooled || !shortage_) return;
    const auto claims = shortage_(instance);
    if (claims.empty()) return;
    spec.claims.insert(spec.claims.end(), claims.begin(), claims.end());
    spec.wait_for_claims = true;
    spec.cancel_holders = false;
}

Started NewInstances::launch(Instance instance, OperationSpec spec, Batch batch) {
    check_size(instance);
    Rollback undo;
    if (place(instance, spec)) undo.add("reserving", [&] { nodes_.release_all(instance); });
    const std::string id = instance.id.str();
    const std::string requestor = spec.requestor;
    spec.id = instance.launch_operation;
    instances_.stage_create(batch, instance);
    changes_.will_announce(instance);
    undo.add("announcing", [&] { changes_.cancel_announcement(id); });
    Started started = engine_.start(std::move(spec), std::move(batch));
    undo.dismiss();
    changes_.announce(id, requestor);
    log::info("container created",
              {{"container", id}, {"application", instance.app_name}, {"image", instance.image_id}});
    return started;
}

}  // namespace svc

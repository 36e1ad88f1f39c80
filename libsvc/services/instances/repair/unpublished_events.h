#pragma once
// Lifecycle events that an earlier process did not publish: it ended between a change and its event.
#include "libsvc/events/event_bus.h"
#include "libsvc/services/instances/instance_changes.h"

namespace svc {

// The action of the event that tells of a move to `status`; empty for `deleted`, of which the end is told.
std::string_view action_of(InstanceStatus status);

// For the start, before anything changes. Compares the window's last event of each instance with its record:
// an instance that is gone was removed, and one with another status has moved to that. Instances whose events
// have left the window are passed over.
void publish_unpublished_events(const Instances& instances, EventBus& events, const Engine& engine,
                                const InstanceChanges& changes);

}  // namespace svc

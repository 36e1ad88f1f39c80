#pragma once
// Starts the application of an instance on an Android guest, and watches it (docs/agent.md).
#include <optional>
#include <stop_token>
#include <string>

#include "instance-agent/agent/application/boot_target.h"
#include "instance-agent/agent/application/guest_activities.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// Brings the target to the screen. Throws internal where a package that the watch names is not installed, or
// the activity does not come up.
void start_application(const GuestActivities& guest, const BootTarget& target, const Watch& watch);

// Looks every five seconds. Returns why the instance has failed, once a second look confirms it; nothing when
// `stop` was requested.
std::optional<std::string> watch_application(const GuestActivities& guest, const BootTarget& target,
                                             const Watch& watch, Clock& clock, std::stop_token stop);

}  // namespace svc::agent

#pragma once
// Starts the application of an instance on an Android guest, and watches that of any guest (docs/agent.md).
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/application/boot_target.h"
#include "instance-agent/agent/application/guest_activities.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// Brings the target to the screen. Throws internal where a package that the watch names is not installed, or
// the activity does not come up.
void start_application(const GuestActivities& guest, const BootTarget& target, const Watch& watch);

// Tells why the application is not well; nothing when it is, or when that cannot be seen.
using HealthCheck = std::function<std::optional<std::string>()>;

// `guest` has to live as long as the check.
HealthCheck check_activity(const GuestActivities& guest, BootTarget target, Watch watch);
// Runs `command` by the shell `shell`, for at most 20 s.
HealthCheck check_command(std::string shell, std::string command);

// Looks every five seconds. Returns why the instance has failed, once a second look finds a fault, too;
// nothing when `stop` was requested.
std::optional<std::string> watch_application(const std::vector<HealthCheck>& checks, Clock& clock,
                                             std::stop_token stop);

}  // namespace svc::agent

#pragma once
// Checks whether the guest is ready, by the readiness check of its image.
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/model/packages/image.h"

namespace svc::agent {

// Nothing when the guest is ready, else the reason: "file '/run/ready' does not exist". Every part of the
// check must hold; an empty check holds. `shell` runs the command of the check. Blocks for at most 10 s
// (while a command of the check runs).
std::optional<std::string> why_not_ready(const ReadinessCheck& check, const std::string& shell = "/bin/sh");

// Repeats the check until the guest is ready. Returns false when `stop` was requested. Throws Error
// `unavailable` "guest is not ready after <limit>: <reason>" when `limit` has passed, counted from `spent`
// before the call; it checks at least once.
bool wait_until_ready(const ReadinessCheck& check, Clock& clock, Duration limit, Duration spent,
                      std::stop_token stop, const std::string& shell = "/bin/sh");

}  // namespace svc::agent

#pragma once
// Tells whether the guest is up, by the check its image names.
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/model/packages/image.h"

namespace svc::agent {

// Nothing when the guest is ready, else what is still missing: "file '/run/ready' does not exist". Every part
// of the check must hold; an empty check always does. Blocks for at most 10 s (a command).
std::optional<std::string> why_not_ready(const ReadinessCheck& check);

// Asks again and again, at least once, until the guest is ready. Returns false when `stop` was requested;
// throws Error `unavailable` "guest is not ready after <limit>: <reason>" when `limit` has passed, of which
// `spent` was over before.
bool wait_until_ready(const ReadinessCheck& check, Clock& clock, Duration limit, Duration spent,
                      std::stop_token stop);

}  // namespace svc::agent

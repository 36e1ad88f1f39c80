#pragma once
// The agent's life: read the session, wait for the guest, report, stay until told to go.
#include <filesystem>
#include <optional>
#include <stop_token>

#include "instance-agent/reporter.h"
#include "libsvc/base/clock.h"
#include "libsvc/model/instance.h"

namespace svc::agent {

// Nothing when the file is absent (the agent then has nobody to report to); throws invalid_argument when it
// is broken.
std::optional<AgentSession> read_session(const std::filesystem::path& file);

// Waits for the guest and reports `running`, or `error` with the reason. Returns when the report was taken,
// refused, or `stop` was requested.
void announce_guest(const AgentSession& session, Clock& clock, const Call& call, std::stop_token stop);

}  // namespace svc::agent

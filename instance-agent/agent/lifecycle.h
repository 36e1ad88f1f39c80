#pragma once
// The three runs of svc-agent in one start of an instance: before, with and after the guest (docs/agent.md).
// Each runs its phase (phases/phases.h) and reports to the management service.
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "instance-agent/agent/phases/phases.h"
#include "instance-agent/agent/service/reporter.h"

namespace svc::agent {

// The session file. Nothing when the file is absent: then there is no service to report to. Throws
// invalid_argument when the file is broken.
std::optional<AgentSession> read_session(const std::filesystem::path& file);

// Waits until the guest is ready, runs the phase with the guest and reports `running`, or `error` with the
// reason. Then watches the application, and reports `error` when that fails. Returns when the service has
// refused the report, when an error was reported, when there is nothing to watch, or when `stop` was
// requested.
void run_with_guest(const AgentSession& session, const Paths& paths, Clock& clock, const Call& call,
                    std::stop_token stop);

// Runs the phase before the guest, as the first process of the container, then replaces this process with
// `init`. Returns an exit status, and only when one of the two failed.
int run_before_guest(const std::filesystem::path& session_file, const std::vector<std::string>& init);

// Runs the phase after the guest, which ended with `exit_code`. Returns 0, or 2 when a hook failed: then the
// reason is reported, and is the last line on stderr.
int run_after_guest(const std::filesystem::path& session_file, int exit_code);

}  // namespace svc::agent

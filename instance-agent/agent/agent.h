#pragma once
// The agent's life beside the guest, and its shorter ones before and after it.
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "instance-agent/agent/phases/phases.h"
#include "instance-agent/agent/service/reporter.h"

namespace svc::agent {

// Nothing when the file is absent (the agent then has nobody to report to); throws invalid_argument when it
// is broken.
std::optional<AgentSession> read_session(const std::filesystem::path& file);

// Waits for the guest, does what is to be done with it and reports `running`, or `error` with the reason.
// Returns when the report was taken, refused, or `stop` was requested.
void announce_guest(const AgentSession& session, const Paths& paths, Clock& clock, const Call& call,
                    std::stop_token stop);

// What comes before the guest, as the container's first process, which then becomes `init`. Returns only when
// that failed: the exit status.
int boot_guest(const std::filesystem::path& session_file, const std::vector<std::string>& init);

// What comes after the guest, which ended with `exit_code`. 0, or 2 when a hook failed: the reason is
// reported and the last line on stderr.
int follow_up(const std::filesystem::path& session_file, int exit_code);

}  // namespace svc::agent

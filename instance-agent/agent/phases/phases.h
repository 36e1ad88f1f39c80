#pragma once
// The three times the agent works for the packages of an instance: before, with and after its guest. Each is
// told to the service when it fails. docs/agent.md has the whole story.
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/phases/phase_work.h"
#include "instance-agent/agent/service/service.h"

namespace svc::agent {

// Fetches and unpacks packages, updates the guest of a base instance, runs the hooks before the guest.
// Nothing when all went well, else what is to be reported.
std::optional<InstanceReport> prepare_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                            const Call& call, std::stop_token stop);

// With the guest up: application, permissions and extra data of a base instance, hooks. What of it was done
// in this start of the instance is not repeated. Returns the report, `running` or `error`; nothing when
// `stop` was requested.
std::optional<InstanceReport> complete_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                             std::stop_token stop);

// Hooks after the guest, all of them even if one fails, and the cleaning up of a base instance unless one
// did. Nothing when all went well, else what is to be reported.
std::optional<InstanceReport> follow_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                           int exit_code, std::stop_token stop);

}  // namespace svc::agent

#pragma once
// The three phases of an instance's start in which the agent works for its packages: before, with and after
// the guest. docs/agent.md lists their steps.
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/phases/phase_context.h"
#include "instance-agent/agent/service/service_calls.h"

namespace svc::agent {

// Before the guest: fetches and unpacks packages, installs security updates into a base instance, runs the
// hooks. Returns the report of a failure; nothing when all steps succeeded.
std::optional<InstanceReport> prepare_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                            const Call& call, std::stop_token stop);

// With the guest: waits until the guest is ready, installs application, permissions and extra data of a base
// instance, runs the hooks; in a regular instance runs the boot command, and starts the application on an
// Android guest. Steps that were done in this start of the instance are not repeated. Returns the report,
// `running` or `error`; nothing when `stop` was requested.
std::optional<InstanceReport> complete_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                             std::stop_token stop);

// After a report `running`: watches the application of a regular instance. Returns the report of its failure;
// nothing when there is nothing to watch, or when `stop` was requested.
std::optional<InstanceReport> watch_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                          std::stop_token stop);

// After the guest: runs every hook, even when one fails; when all succeeded, cleans up a base instance.
// Returns the report of the first failure; nothing when all steps succeeded.
std::optional<InstanceReport> follow_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                           int exit_code, std::stop_token stop);

}  // namespace svc::agent

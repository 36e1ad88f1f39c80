#pragma once
// Hooks: programs of a package, run as the guest's root at fixed points of an instance's life.
#include <string>
#include <vector>

#include "instance-agent/agent/phases/phase_context.h"

namespace svc::agent {

// The variables of the boot command, and of a hook: listed in docs/agent.md, Hooks.
std::vector<std::string> application_environment(const PhaseContext& phase);
std::vector<std::string> hook_environment(const PhaseContext& phase, const PackageRef& package);

// Throws Error "hook pre-start of addon ssh failed: exit status 1: <last line of its output>", "... timed out
// after 5m", or "... was interrupted" when `phase.stop` was requested.
void run_hook(const PhaseContext& phase, const PackageRef& package, const std::string& hook);

// "hook pre-start of addon ssh".
std::string describe_hook(const PackageRef& package, const std::string& hook);

struct HookCall {
    PackageRef package;
    std::string hook;
};

// The hooks of each phase, in their order: the first hook name for every package, then the second.
std::vector<HookCall> hooks_before_guest(const AgentSession& session);
std::vector<HookCall> hooks_with_guest(const AgentSession& session);
std::vector<HookCall> hooks_after_guest(const AgentSession& session);  // packages in reverse

}  // namespace svc::agent

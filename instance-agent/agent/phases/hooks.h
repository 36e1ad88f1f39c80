#pragma once
// Hooks: programs of a package, run as the guest's root at fixed points of an instance's life.
#include <string>
#include <vector>

#include "instance-agent/agent/phases/phase_work.h"

namespace svc::agent {

// What the names mean is in docs/agent.md.
std::vector<std::string> hook_environment(const Work& work, const PackageRef& package);

// Throws Error "hook pre-start of addon ssh failed: exit status 1: <last line of its output>", "... timed out
// after 5m", or "... was interrupted" when `work.stop` is requested.
void run_hook(const Work& work, const PackageRef& package, const std::string& hook);

// "hook pre-start of addon ssh".
std::string describe_hook(const PackageRef& package, const std::string& hook);

struct HookCall {
    PackageRef package;
    std::string hook;
};

// Which hooks run, in this order: all of the first name, package by package, then all of the second.
std::vector<HookCall> hooks_before_guest(const AgentSession& session);
std::vector<HookCall> hooks_with_guest(const AgentSession& session);
std::vector<HookCall> hooks_after_guest(const AgentSession& session);  // packages in reverse

}  // namespace svc::agent

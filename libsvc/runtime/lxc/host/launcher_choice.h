#pragma once
// Which launcher starts containers on this machine. docs/launcher.md has the rules.
#include <string>

#include "libsvc/runtime/lxc/options.h"

namespace svc::lxc {

// What the choice depends on.
struct LaunchConditions {
    bool no_policies = false;  // AppArmor is on, and no namespace of its policies can be made
    std::string kernel;        // its release, "6.1.0-13-amd64"
    bool has_program = true;   // svc-launch is there
    // The root of the machine is its initial RAM file system, below which the kernel changes no root.
    bool initial_root = false;
};

bool apparmor_is_usable();  // the kernel has it on, and profiles can be loaded
LaunchConditions launch_conditions(const LxcOptions& options);
// Why the launcher of our own starts no container under these conditions; empty: it does.
std::string why_not_own(const LaunchConditions& conditions);
// Throws unsupported for `own` where it cannot be used: a guest would be confined less, or not start.
LauncherKind choose_launcher(std::optional<LauncherKind> configured, const LaunchConditions& conditions);

}  // namespace svc::lxc

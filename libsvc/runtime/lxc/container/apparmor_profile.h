#pragma once
// What AppArmor refuses the guests that svc-launch starts: one profile for all guests of a daemon, and a
// policy namespace for each, in which the guest may load profiles of its own (docs/launcher.md, "AppArmor").
// Pure.
#include <string>
#include <string_view>
#include <vector>

namespace svc::lxc {

// Where the kernel shows the namespaces of policies, a folder for each.
constexpr const char* policy_namespaces = "/sys/kernel/security/apparmor/policy/namespaces";

// Both differ between the daemons of a machine, as their bridges do.
std::string guest_profile_name(std::string_view bridge);                          // "svc-guest-svcbr0"
std::string policy_namespace_name(std::string_view bridge, std::string_view id);  // "svc-svcbr0.<id>"

// The profile as text for apparmor_parser.
std::string guest_profile(std::string_view bridge);

// Rules that refuse to change anything below `folder` but what is kept. Each kept path is relative: of a file
// ("hostname"), of a folder with all that is in it ("net/"), or of files whose names begin so ("msg*").
std::string refuse_changes_below(std::string_view folder, const std::vector<std::string_view>& kept);

}  // namespace svc::lxc

#include "libsvc/runtime/lxc/host/launcher_choice.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "libsvc/runtime/lxc/host/apparmor.h"

namespace svc::lxc {

namespace {

using KernelVersion = std::pair<int, int>;

constexpr KernelVersion least_kernel{5, 12};  // mounts with mapped ids

KernelVersion version_of(const std::string& release) {
    KernelVersion version{};
    const char* const end = release.data() + release.size();
    const auto [dot, problem] = std::from_chars(release.data(), end, version.first);
    if (problem == std::errc{} && dot != end) std::from_chars(dot + 1, end, version.second);
    return version;
}

// Each line of `mountinfo` has the mount's place as its fifth word, and its file system after " - ".
bool is_initial_root(std::string_view mountinfo) {
    const std::vector<std::string> lines = split(mountinfo, '\n');
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find(" / / ") != std::string::npos && line.find(" - rootfs ") != std::string::npos;
    });
}

}  // namespace

bool apparmor_is_usable() {
    return read_or_empty("/sys/module/apparmor/parameters/enabled").starts_with('Y') &&
           ::access(apparmor_parser, X_OK) == 0;
}

LaunchConditions launch_conditions(const LxcOptions& options) {
    utsname system{};
    ::uname(&system);
    return {apparmor_is_usable() && ::access(policy_namespaces, W_OK) != 0,
            static_cast<const char*>(system.release), !options.launch_helper.empty(),
            is_initial_root(read_file("/proc/self/mountinfo"))};
}

std::string why_not_own(const LaunchConditions& conditions) {
    if (!conditions.has_program) return "the program svc-launch is not there";
    if (conditions.no_policies)
        return fmt::format(
            "it cannot confine guests by AppArmor, which this machine has on: no folder can be made in {}",
            policy_namespaces);
    if (version_of(conditions.kernel) < least_kernel)
        return "it needs Linux 5.12, this is " + conditions.kernel;
    if (conditions.initial_root) return "the machine runs in its initial RAM file system";
    return "";
}

LauncherKind choose_launcher(std::optional<LauncherKind> configured, const LaunchConditions& conditions) {
    if (configured == LauncherKind::liblxc) return LauncherKind::liblxc;
    const std::string reason = why_not_own(conditions);
    if (reason.empty()) return LauncherKind::own;
    if (configured) throw Error(ErrorCode::unsupported, "the launcher `own` cannot be used: " + reason);
    log::info("liblxc starts containers", {{"reason", "the launcher `own`: " + reason}});
    return LauncherKind::liblxc;
}

}  // namespace svc::lxc

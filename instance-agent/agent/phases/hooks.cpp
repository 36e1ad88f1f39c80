#include "instance-agent/agent/phases/hooks.h"

#include <algorithm>

#include "instance-agent/agent/application/boot_target.h"
#include "instance-agent/shared/display_settings.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

std::vector<HookCall> calls_of(const std::vector<PackageRef>& packages,
                               const std::vector<std::string>& hooks) {
    std::vector<HookCall> calls;
    for (const std::string& hook : hooks)
        for (const PackageRef& package : packages)
            if (package.has_hook(hook)) calls.push_back({package, hook});
    return calls;
}

bool is_base(const AgentSession& session) {
    return session.instance_type == "base";
}

void note_start(const PhaseContext& phase, const std::string& what) {
    log::info("hook starts", {{"hook", what}});
    try {
        phase.output.append("--- " + to_rfc3339(phase.clock.now()) + " " + what + "\n");
    } catch (const std::exception&) {
        return;  // the log cannot be written; the hook's own failure matters more
    }
}

}  // namespace

std::vector<HookCall> hooks_before_guest(const AgentSession& session) {
    return calls_of(session.packages, {is_base(session) ? "install" : "restore", "pre-start"});
}

std::vector<HookCall> hooks_with_guest(const AgentSession& session) {
    if (is_base(session)) return calls_of(session.packages, {"prepare", "post-start"});
    return calls_of(session.packages, {"post-start"});
}

std::vector<HookCall> hooks_after_guest(const AgentSession& session) {
    const std::vector<PackageRef> reversed(session.packages.rbegin(), session.packages.rend());
    if (is_base(session)) return calls_of(reversed, {"post-stop"});
    return calls_of(reversed, {"backup", "post-stop"});
}

std::string describe_hook(const PackageRef& package, const std::string& hook) {
    return "hook " + hook + " of " + describe(package);
}

std::vector<std::string> application_environment(const PhaseContext& phase) {
    std::vector<std::string> environment = program_environment(phase.session);
    const auto add = [&](const char* name, const std::string& value) {
        environment.push_back(std::string(name) + "=" + value);
    };
    const BootTarget target = boot_target(phase.session);
    add("APP_DIR", phase.paths.app());
    add("RUNTIME_DIR", phase.paths.data);
    add("ANDROID_ROOTFS", phase.paths.guest);
    add("GUEST_ROOTFS", phase.paths.guest);
    add("BOOT_PACKAGE", target.package);
    add("BOOT_ACTIVITY", target.activity);
    add("FEATURES", join(phase.session.features, ","));
    const DisplaySettings display =
        read_display_settings(phase.session.config.platform, phase.paths.user_data());
    add("PLATFORM", phase.session.config.platform);
    add("DISPLAY_WIDTH", std::to_string(display.width));
    add("DISPLAY_HEIGHT", std::to_string(display.height));
    add("DISPLAY_FPS", std::to_string(display.fps));
    add("DISPLAY_DENSITY", std::to_string(display.density));
    add("CONTAINER_TYPE", phase.is_base() ? "base" : "regular");
    add("INSTANCE_TYPE", phase.is_base() ? "base" : "regular");
    if (phase.exit_code) add("RUNTIME_EXIT_CODE", std::to_string(*phase.exit_code));
    return environment;
}

std::vector<std::string> hook_environment(const PhaseContext& phase, const PackageRef& package) {
    std::vector<std::string> environment = application_environment(phase);
    if (!package.is_application)
        environment.push_back("ADDON_DIR=" + phase.paths.directory_of(package).string());
    return environment;
}

void run_hook(const PhaseContext& phase, const PackageRef& package, const std::string& hook) {
    const std::string what = describe_hook(package, hook);
    note_start(phase, what);
    const auto directory = phase.paths.directory_of(package);
    const Duration limit = std::chrono::seconds(package.hook_timeout_seconds);
    const bool cut = limit > phase.left();
    const ProgramEnd end = with_context(what + " failed", [&] {
        return run_in_phase(
            phase, {{directory / "hooks" / hook}, hook_environment(phase, package), directory, limit});
    });
    if (end.succeeded()) return;
    if (end.stopped) throw Error(ErrorCode::cancelled, what + " was interrupted");
    if (end.timed_out)
        throw Error(ErrorCode::unavailable,
                    what + (cut ? " did not end before the time of the instance was up"
                                : " timed out after " + format_duration(limit)));
    throw Error(ErrorCode::internal, what + " failed: " + end.reason());
}

}  // namespace svc::agent

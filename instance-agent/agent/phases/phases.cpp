#include "instance-agent/agent/phases/phases.h"

#include "instance-agent/agent/android/android_guest.h"
#include "instance-agent/agent/application/watchdog.h"
#include "instance-agent/agent/phases/cleanup.h"
#include "instance-agent/agent/phases/extra_data.h"
#include "instance-agent/agent/phases/guest_app.h"
#include "instance-agent/agent/phases/hooks.h"
#include "instance-agent/agent/phases/packages.h"
#include "instance-agent/agent/phases/progress.h"
#include "instance-agent/agent/phases/readiness.h"
#include "instance-agent/agent/phases/updates.h"
#include "instance-agent/agent/processes/first_process.h"
#include "instance-agent/agent/processes/guest_start.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::uint64_t hook_log_bytes = 512U << 10;              // the file before it has as much again
constexpr Duration boot_command_limit = std::chrono::minutes(5);  // as a hook's
constexpr Duration no_limit =
    std::chrono::hours(24 * 365);  // each hook has a limit of its own, and the service has one for the phase

Duration boot_limit(const AgentSession& session) {
    return std::chrono::seconds(session.boot_timeout_seconds);
}

PhaseStep hook_step(const PhaseContext& phase, const HookCall& call) {
    return {FailureKind::hook, [&phase, call] { run_hook(phase, call.package, call.hook); }};
}

// The step, run at most once in this start of the instance: see Progress::once().
PhaseStep once(Progress& progress, const std::string& what, PhaseStep step) {
    return {step.kind, [&progress, what, run = std::move(step.run)] { progress.once(what, run); }};
}

void add_package_steps(const PhaseContext& phase, const Call& call, std::vector<PhaseStep>& steps) {
    for (const PackageRef& package : phase.session.packages) {
        if (!package.fetch || is_unpacked(phase.paths, package)) continue;
        steps.push_back(
            {FailureKind::network, [&phase, &call, &package] { fetch_package(phase, call, package); }});
        steps.push_back({FailureKind::install, [&phase, &package] { unpack_fetched(phase, package); }});
    }
}

std::vector<PhaseStep> steps_before_guest(const PhaseContext& phase, const Call& call, Progress& progress) {
    std::vector<PhaseStep> steps;
    if (phase.session.android)
        steps.push_back({FailureKind::general, [&phase] { prepare_android(phase.paths); }});
    add_package_steps(phase, call, steps);
    if (phase.is_base() && phase.session.security_updates)
        steps.push_back({FailureKind::general, [&phase, &progress] {
                             if (const auto note = install_updates(phase)) progress.add_note(*note);
                         }});
    for (const HookCall& hook : hooks_before_guest(phase.session)) steps.push_back(hook_step(phase, hook));
    return steps;
}

void add_base_steps(const PhaseContext& phase, Progress& progress, std::vector<PhaseStep>& steps) {
    steps.push_back(
        once(progress, "installation of the application", {FailureKind::install, [&phase, &progress] {
                                                               if (const auto note = install_app(phase))
                                                                   progress.add_note(*note);
                                                           }}));
    steps.push_back(once(progress, "placing of extra data", {FailureKind::install, [&phase, &progress] {
                                                                 for (const std::string& note :
                                                                      place_extra_data(phase))
                                                                     progress.add_note(note);
                                                             }}));
}

// The command starts the application and returns.
void run_boot_command(const PhaseContext& phase) {
    const std::string& command = phase.session.app.boot;
    const std::string what = "boot command " + quoted(command);
    const ProgramEnd end = with_context(what + " failed", [&] {
        return run_in_phase(phase, {{shell_of(phase.paths), "-c", command},
                                    application_environment(phase),
                                    phase.paths.guest,
                                    boot_command_limit});
    });
    if (end.stopped) throw Error(ErrorCode::cancelled, what + " was interrupted");
    if (end.timed_out)
        throw Error(ErrorCode::unavailable,
                    what + " did not end within " + format_duration(boot_command_limit));
    if (!end.succeeded()) throw Error(ErrorCode::internal, what + " failed: " + end.reason());
    log::info("boot command has ended", {{"command", command}});
}

// Without the watchdog, what does not start is no failure of the instance.
void start_app(const PhaseContext& phase) {
    const BootTarget target = boot_target(phase.session);
    const GuestActivities guest(phase.paths);
    if (target.package.empty() || !guest.available()) return;
    const Watch watch = watch_of(phase.session);
    try {
        start_application(guest, target, watch);
    } catch (const Error& e) {
        if (watch.on) throw;
        log::warning("the application is not started", {{"reason", e.what()}});
    }
}

std::vector<PhaseStep> steps_with_guest(const PhaseContext& phase, Progress& progress) {
    std::vector<PhaseStep> steps;
    if (phase.is_base()) add_base_steps(phase, progress, steps);
    for (const HookCall& hook : hooks_with_guest(phase.session))
        steps.push_back(once(progress, describe_hook(hook.package, hook.hook), hook_step(phase, hook)));
    if (phase.is_base()) return steps;
    if (!phase.session.app.boot.empty())
        steps.push_back(
            once(progress, "boot command", {FailureKind::general, [&phase] { run_boot_command(phase); }}));
    steps.push_back({FailureKind::watchdog, [&phase] { start_app(phase); }});
    return steps;
}

InstanceReport running_report(const Progress& progress) {
    InstanceReport report;
    report.status = "running";
    report.notes = progress.notes();
    return report;
}

// Waits until the guest is ready, then runs the steps of the phase.
InstanceReport complete(const PhaseContext& phase, Progress& progress) {
    std::vector<PhaseStep> steps = steps_with_guest(phase, progress);
    if (progress.finished()) steps.clear();
    const Duration limit = boot_limit(phase.session);
    steps.insert(steps.begin(), {FailureKind::timeout, [&phase, limit] {
                                     wait_until_ready(readiness_of(phase.session), phase.clock, limit,
                                                      limit - phase.left(), phase.stop,
                                                      shell_of(phase.paths));
                                 }});
    if (auto failure = run_steps(phase, steps)) return std::move(*failure);
    if (!phase.stop.stop_requested() && !progress.finished()) progress.finish();
    return running_report(progress);
}

}  // namespace

std::optional<InstanceReport> prepare_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                            const Call& call, std::stop_token stop) {
    BoundedFile output(paths.logs() / "hooks.log", hook_log_bytes);
    Progress progress(paths.progress(), guest_start(paths).key);
    const PhaseContext phase{session,         paths,  clock, clock.steady_now() + boot_limit(session),
                             std::move(stop), output, {}};
    return run_steps(phase, steps_before_guest(phase, call, progress));
}

std::optional<InstanceReport> complete_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                             std::stop_token stop) {
    if ((session.android || boots_with_agent(session.packages, session.instance_type == "base")) &&
        !wait_for_guest(paths, clock, stop))
        return std::nullopt;
    BoundedFile output(paths.logs() / "hooks.log", hook_log_bytes);
    const GuestStart start = guest_start(paths);
    Progress progress(paths.progress(), start.key);
    const Duration spent = progress.finished() ? Duration(0) : std::min(start.age, boot_limit(session));
    const PhaseContext phase{session, paths,  clock, clock.steady_now() + boot_limit(session) - spent,
                             stop,    output, {}};
    InstanceReport report = complete(phase, progress);
    return stop.stop_requested() ? std::nullopt : std::optional(std::move(report));
}

std::optional<InstanceReport> watch_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                          std::stop_token stop) {
    const Watch watch = watch_of(session);
    if (session.instance_type == "base" || !watch.on) return std::nullopt;
    const GuestActivities guest(paths);
    const BootTarget target = boot_target(session);
    std::vector<HealthCheck> checks;
    if (!target.package.empty() && guest.available()) checks.push_back(check_activity(guest, target, watch));
    if (!watch.command.empty()) checks.push_back(check_command(shell_of(paths), watch.command));
    if (checks.empty()) return std::nullopt;
    const auto fault = watch_application(checks, clock, std::move(stop));
    return fault ? std::optional(error_report(FailureKind::watchdog, *fault)) : std::nullopt;
}

std::optional<InstanceReport> follow_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                           int exit_code, std::stop_token stop) {
    BoundedFile output(paths.logs() / "hooks.log", hook_log_bytes);
    const PhaseContext phase{session,         paths,  clock,    clock.steady_now() + no_limit,
                             std::move(stop), output, exit_code};
    std::optional<InstanceReport> failure;
    for (const HookCall& hook : hooks_after_guest(session))
        if (auto failed = run_steps(phase, {hook_step(phase, hook)}); failed && !failure)
            failure = std::move(failed);
    if (failure || !phase.is_base()) return failure;
    return run_steps(phase, {{FailureKind::general, [&] {
                                  clean_app(paths.app(), session.app.keep);
                                  clean_own(paths);
                              }}});
}

}  // namespace svc::agent

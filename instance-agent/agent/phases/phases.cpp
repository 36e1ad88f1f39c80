#include "instance-agent/agent/phases/phases.h"

#include "instance-agent/agent/phases/cleanup.h"
#include "instance-agent/agent/phases/extra_data.h"
#include "instance-agent/agent/phases/guest_app.h"
#include "instance-agent/agent/phases/hooks.h"
#include "instance-agent/agent/phases/packages.h"
#include "instance-agent/agent/phases/progress.h"
#include "instance-agent/agent/phases/readiness.h"
#include "instance-agent/agent/phases/updates.h"
#include "instance-agent/agent/processes/first_process.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

constexpr std::uint64_t hook_log_bytes = 512U << 10;  // and as much of the one before
constexpr Duration no_limit =
    std::chrono::hours(24 * 365);  // each hook has its own, and the service one for all

Duration boot_limit(const AgentSession& session) {
    return std::chrono::seconds(session.boot_timeout_seconds);
}

Step hook_step(const Work& work, const HookCall& call) {
    return {Trouble::hook, [&work, call] { run_hook(work, call.package, call.hook); }};
}

// Throws what a step may not do twice.
Step once(Progress& progress, const std::string& what, Step step) {
    return {step.trouble, [&progress, what, run = std::move(step.run)] { progress.once(what, run); }};
}

void add_package_steps(const Work& work, const Call& call, std::vector<Step>& steps) {
    for (const PackageRef& package : work.session.packages) {
        if (!package.fetch || is_unpacked(work.paths, package)) continue;
        steps.push_back({Trouble::network, [&work, &call, &package] { fetch_package(work, call, package); }});
        steps.push_back({Trouble::install, [&work, &package] { unpack_fetched(work, package); }});
    }
}

std::vector<Step> steps_before_guest(const Work& work, const Call& call, Progress& progress) {
    std::vector<Step> steps;
    add_package_steps(work, call, steps);
    if (work.is_base() && work.session.security_updates)
        steps.push_back({Trouble::general, [&work, &progress] {
                             if (const auto note = install_updates(work)) progress.add_note(*note);
                         }});
    for (const HookCall& hook : hooks_before_guest(work.session)) steps.push_back(hook_step(work, hook));
    return steps;
}

void add_base_steps(const Work& work, Progress& progress, std::vector<Step>& steps) {
    steps.push_back(once(progress, "installation of the application", {Trouble::install, [&work, &progress] {
                                                                           if (const auto note =
                                                                                   install_app(work))
                                                                               progress.add_note(*note);
                                                                       }}));
    steps.push_back(once(progress, "placing of extra data", {Trouble::install, [&work, &progress] {
                                                                 for (const std::string& note :
                                                                      place_extra_data(work))
                                                                     progress.add_note(note);
                                                             }}));
}

std::vector<Step> steps_with_guest(const Work& work, Progress& progress) {
    std::vector<Step> steps;
    if (work.is_base()) add_base_steps(work, progress, steps);
    for (const HookCall& hook : hooks_with_guest(work.session))
        steps.push_back(once(progress, describe_hook(hook.package, hook.hook), hook_step(work, hook)));
    return steps;
}

InstanceReport running_report(const Progress& progress) {
    InstanceReport report;
    report.status = "running";
    report.notes = progress.notes();
    return report;
}

// The guest's readiness, then all there is to do with it.
InstanceReport complete(const Work& work, Progress& progress) {
    std::vector<Step> steps = steps_with_guest(work, progress);
    if (progress.finished()) steps.clear();
    const Duration limit = boot_limit(work.session);
    steps.insert(steps.begin(), {Trouble::timeout, [&work, limit] {
                                     wait_until_ready(work.session.ready, work.clock, limit,
                                                      limit - work.left(), work.stop);
                                 }});
    if (auto failure = run_steps(work, steps)) return std::move(*failure);
    if (!work.stop.stop_requested() && !progress.finished()) progress.finish();
    return running_report(progress);
}

}  // namespace

std::optional<InstanceReport> prepare_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                            const Call& call, std::stop_token stop) {
    BoundedFile output(paths.logs() / "hooks.log", hook_log_bytes);
    Progress progress(paths.progress(), guest_start(paths).key);
    const Work work{session,         paths,  clock, clock.steady_now() + boot_limit(session),
                    std::move(stop), output, {}};
    return run_steps(work, steps_before_guest(work, call, progress));
}

std::optional<InstanceReport> complete_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                             std::stop_token stop) {
    if (boots_with_agent(session.packages, session.instance_type == "base") &&
        !wait_for_guest(paths, clock, stop))
        return std::nullopt;
    BoundedFile output(paths.logs() / "hooks.log", hook_log_bytes);
    const GuestStart start = guest_start(paths);
    Progress progress(paths.progress(), start.key);
    const Duration spent = progress.finished() ? Duration(0) : std::min(start.age, boot_limit(session));
    const Work work{session, paths,  clock, clock.steady_now() + boot_limit(session) - spent,
                    stop,    output, {}};
    InstanceReport report = complete(work, progress);
    return stop.stop_requested() ? std::nullopt : std::optional(std::move(report));
}

std::optional<InstanceReport> follow_guest(const AgentSession& session, const Paths& paths, Clock& clock,
                                           int exit_code, std::stop_token stop) {
    BoundedFile output(paths.logs() / "hooks.log", hook_log_bytes);
    const Work work{session, paths, clock, clock.steady_now() + no_limit, std::move(stop), output, exit_code};
    std::optional<InstanceReport> failure;
    for (const HookCall& hook : hooks_after_guest(session))
        if (auto failed = run_steps(work, {hook_step(work, hook)}); failed && !failure)
            failure = std::move(failed);
    if (failure || !work.is_base()) return failure;
    return run_steps(work, {{Trouble::general, [&] {
                                 clean_app(paths.app(), session.app.keep);
                                 clean_own(paths);
                             }}});
}

}  // namespace svc::agent

#include "instance-agent/agent/application/watchdog.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration between_looks = 5s;
constexpr std::chrono::seconds command_limit{20};
constexpr Duration second_look = 1s;  // windows change meanwhile, and the guest starts what has crashed again

bool allows_all(const Watch& watch) {
    return watch.allowed == std::vector<std::string>{"*"};
}

bool may_be_seen(const std::string& package, const BootTarget& target, const Watch& watch) {
    return package.empty() || package == target.package || allows_all(watch) ||
           std::ranges::find(watch.allowed, package) != watch.allowed.end();
}

std::optional<std::string> fault_of(const GuestActivities& guest, const BootTarget& target,
                                    const Watch& watch) try {
    if (!guest.has_process(target.package)) return "application " + target.package + " has ended";
    if (guest.is_hanging(target.package)) return "application " + target.package + " does not respond";
    const std::string seen = guest.foreground();
    if (may_be_seen(seen, target, watch)) return std::nullopt;
    return "application " + seen + " is in the foreground, which the watchdog does not allow";
} catch (const Error& e) {
    log::debug("the application could not be looked at", {{"reason", e.what()}});
    return std::nullopt;
}

// ": <the last line that the command wrote>"; "": none.
std::string last_words(const CommandResult& result) {
    const std::vector<std::string> lines = split(trim(result.output + result.errors), '\n');
    return lines.empty() ? "" : ": " + quoted(trim(lines.back()));
}

std::optional<std::string> first_fault(const std::vector<HealthCheck>& checks) {
    for (const HealthCheck& check : checks)
        if (auto fault = check()) return fault;
    return std::nullopt;
}

void check_allowed(const GuestActivities& guest, const Watch& watch) {
    if (!watch.on || allows_all(watch)) return;
    for (const std::string& package : watch.allowed)
        if (!guest.is_installed(package))
            throw Error(ErrorCode::internal,
                        "package " + package + ", which the watchdog allows, is not installed");
}

}  // namespace

void start_application(const GuestActivities& guest, const BootTarget& target, const Watch& watch) try {
    check_allowed(guest, watch);
    guest.start(target.package, target.activity);
    log::info("application is started", {{"package", target.package}});
} catch (const Error& e) {
    if (e.code() != ErrorCode::unavailable) throw;  // a busy machine: the watchdog sees what became of it
    log::warning("the application is slow to start", {{"reason", e.what()}});
}

HealthCheck check_activity(const GuestActivities& guest, BootTarget target, Watch watch) {
    return [&guest, target = std::move(target), watch = std::move(watch)] {
        return fault_of(guest, target, watch);
    };
}

HealthCheck check_command(std::string shell, std::string command) {
    return [shell = std::move(shell), command = std::move(command)]() -> std::optional<std::string> {
        try {
            const CommandResult result = run_command({shell, "-c", command}, command_limit);
            if (result.status.code == 0) return std::nullopt;
            return "watchdog command " + quoted(command) + " exits with " +
                   std::to_string(result.status.code) + last_words(result);
        } catch (const Error& e) {
            return "watchdog command " + quoted(command) + ": " + e.what();
        }
    };
}

std::optional<std::string> watch_application(const std::vector<HealthCheck>& checks, Clock& clock,
                                             std::stop_token stop) {
    while (clock.wait(stop, between_looks)) {
        if (!first_fault(checks) || !clock.wait(stop, second_look)) continue;
        if (auto fault = first_fault(checks); fault && !stop.stop_requested()) return fault;
    }
    return std::nullopt;
}

}  // namespace svc::agent

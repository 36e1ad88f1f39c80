#include "instance-agent/agent/phases/guest_app.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

namespace fs = std::filesystem;

constexpr auto command_limit = std::chrono::minutes(5);

// Older versions of pm exit with 0 and print "Failure [REASON]".
void run(const PhaseContext& phase, const std::string& what, const std::vector<std::string>& command) {
    const ProgramEnd end = with_context(what, [&] {
        return run_in_phase(phase,
                            {command, program_environment(phase.session), phase.paths.guest, command_limit});
    });
    if (end.timed_out) throw Error(ErrorCode::unavailable, what + ": the package manager does not answer");
    if (!end.succeeded() || end.last_line.starts_with("Failure"))
        throw Error(ErrorCode::internal, what + ": " + end.reason());
}

bool wants_all(const std::vector<std::string>& permissions) {
    return permissions == std::vector<std::string>{"*"};
}

std::optional<std::string> grant(const PhaseContext& phase, const std::string& pm) {
    const AppSetup& app = phase.session.app;
    if (app.required_permissions.empty() || wants_all(app.required_permissions)) return std::nullopt;
    if (app.boot_package.empty()) return "permissions were not granted: the name of the package is not known";
    for (const std::string& permission : app.required_permissions)
        run(phase, "cannot grant " + permission, {pm, "grant", app.boot_package, permission});
    return std::nullopt;
}

}  // namespace

std::optional<std::string> install_app(const PhaseContext& phase) {
    const fs::path apk = phase.paths.app() / "app.apk";
    if (!fs::is_regular_file(apk)) return std::nullopt;
    const fs::path pm = find_program(phase.paths, "pm");
    if (pm.empty())
        return "app.apk was not installed: the guest has no package manager; it is left at " + apk.string();
    std::vector<std::string> command{pm, "install", "-r"};
    if (wants_all(phase.session.app.required_permissions)) command.emplace_back("-g");
    command.push_back(apk);
    run(phase, "cannot install app.apk", command);
    log::info("app.apk is installed");
    return grant(phase, pm);
}

}  // namespace svc::agent

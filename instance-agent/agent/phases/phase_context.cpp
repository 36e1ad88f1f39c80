#include "instance-agent/agent/phases/phase_context.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc::agent {

Duration PhaseContext::left() const {
    return std::max(deadline - clock.steady_now(), Duration(0));
}

InstanceReport error_report(FailureKind kind, const std::string& message) {
    InstanceReport report;
    report.status = "error";
    report.error_code = static_cast<int>(kind);
    report.error_message = message;
    return report;
}

std::optional<InstanceReport> run_steps(const PhaseContext& phase, const std::vector<PhaseStep>& steps) {
    for (const PhaseStep& step : steps) try {
            step.run();
        } catch (const std::exception& e) {
            const bool too_late = phase.left() == Duration(0);
            return error_report(too_late ? FailureKind::timeout : step.kind, e.what());
        }
    return std::nullopt;
}

ProgramEnd run_in_phase(const PhaseContext& phase, Program program) {
    program.limit = std::min(program.limit, phase.left());
    return run_program(program, phase.output, phase.stop);
}

std::vector<std::string> program_environment(const AgentSession& session) {
    std::vector<std::string> environment{"PATH=" + std::string(program_path), "HOME=/root", "USER=root",
                                         "LANG=C.UTF-8"};
    if (session.network_proxy.empty()) return environment;
    environment.push_back("http_proxy=" + session.network_proxy);
    environment.push_back("https_proxy=" + session.network_proxy);
    return environment;
}

}  // namespace svc::agent

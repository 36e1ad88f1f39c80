#include "instance-agent/agent/phases/phase_work.h"

#include <unistd.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

// The last ones are a mobile guest's.
constexpr std::string_view program_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/system/bin:/system/xbin";

}  // namespace

Duration Work::left() const {
    return std::max(deadline - clock.steady_now(), Duration(0));
}

InstanceReport error_report(Trouble trouble, const std::string& message) {
    InstanceReport report;
    report.status = "error";
    report.error_code = static_cast<int>(trouble);
    report.error_message = message;
    return report;
}

std::optional<InstanceReport> run_steps(const Work& work, const std::vector<Step>& steps) {
    for (const Step& step : steps) try {
            step.run();
        } catch (const std::exception& e) {
            const bool too_late = work.left() == Duration(0);
            return error_report(too_late ? Trouble::timeout : step.trouble, e.what());
        }
    return std::nullopt;
}

ProgramEnd run_in_phase(const Work& work, Program program) {
    program.limit = std::min(program.limit, work.left());
    return run_program(program, work.output, work.stop);
}

std::vector<std::string> program_environment(const AgentSession& session) {
    std::vector<std::string> environment{"PATH=" + std::string(program_path), "HOME=/root", "USER=root",
                                         "LANG=C.UTF-8"};
    if (session.network_proxy.empty()) return environment;
    environment.push_back("http_proxy=" + session.network_proxy);
    environment.push_back("https_proxy=" + session.network_proxy);
    return environment;
}

std::filesystem::path find_program(const Paths& paths, const std::string& name) {
    for (const std::string& directory : split(program_path, ':')) {
        auto file = paths.in_guest(directory) / name;
        if (::access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

}  // namespace svc::agent

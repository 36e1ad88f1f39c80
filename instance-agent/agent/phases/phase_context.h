#pragma once
// What every step of a phase needs, and how a phase fails.
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/files/bounded_file.h"
#include "instance-agent/agent/files/guest_programs.h"
#include "instance-agent/agent/files/paths.h"
#include "instance-agent/agent/processes/program.h"
#include "libsvc/base/clock.h"
#include "libsvc/model/instances/instance.h"

namespace svc::agent {

// Values of InstanceReport::error_code.
enum class FailureKind { general = 1, hook = 2, install = 3, watchdog = 4, timeout = 5, network = 6 };

struct PhaseContext {
    const AgentSession& session;
    const Paths& paths;
    Clock& clock;
    SteadyTime deadline;  // of the whole phase
    std::stop_token stop;
    BoundedFile& output;             // output of hooks and other programs
    std::optional<int> exit_code{};  // of the guest, in the phase after it

    bool is_base() const { return session.instance_type == "base"; }
    Duration left() const;  // not negative
};

// One step of a phase. When `run` throws, the failure is reported with `kind`.
struct PhaseStep {
    FailureKind kind = FailureKind::general;
    std::function<void()> run;
};

// Runs the steps in order up to the first that fails and returns its report; nothing when none fails. A step
// that fails after the deadline is reported as FailureKind::timeout.
std::optional<InstanceReport> run_steps(const PhaseContext& phase, const std::vector<PhaseStep>& steps);

InstanceReport error_report(FailureKind kind, const std::string& message);

// Runs a program as root of the guest; its output goes to `output`, and its time limit is cut to what is left
// of the phase.
ProgramEnd run_in_phase(const PhaseContext& phase, Program program);

// PATH, HOME, USER, LANG and the proxy variables.
std::vector<std::string> program_environment(const AgentSession& session);

}  // namespace svc::agent

#pragma once
// What every step of a phase needs, and how a phase fails.
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/paths.h"
#include "instance-agent/agent/processes/bounded_file.h"
#include "instance-agent/agent/processes/program.h"
#include "libsvc/base/clock.h"
#include "libsvc/model/instances/instance.h"

namespace svc::agent {

// Numbers of InstanceReport::error_code.
enum class Trouble { general = 1, hook = 2, install = 3, timeout = 5, network = 6 };

struct Work {
    const AgentSession& session;
    const Paths& paths;
    Clock& clock;
    SteadyTime deadline;  // of the whole phase
    std::stop_token stop;
    BoundedFile& output;             // of hooks and other programs
    std::optional<int> exit_code{};  // of the guest: only after its end

    bool is_base() const { return session.instance_type == "base"; }
    Duration left() const;  // not negative
};

// One thing to do; what it throws is reported with `trouble`.
struct Step {
    Trouble trouble = Trouble::general;
    std::function<void()> run;
};

// Runs the steps in order up to the first that fails; nothing when none does. A step that failed because the
// time was up is reported as that.
std::optional<InstanceReport> run_steps(const Work& work, const std::vector<Step>& steps);

InstanceReport error_report(Trouble trouble, const std::string& message);

// As the guest's root, with its output in the log; the limit is cut to what is left of the phase.
ProgramEnd run_in_phase(const Work& work, Program program);

// PATH, HOME and the proxy.
std::vector<std::string> program_environment(const AgentSession& session);

// The first of the directories of PATH that holds this program, in the guest. Empty: none.
std::filesystem::path find_program(const Paths& paths, const std::string& name);

}  // namespace svc::agent

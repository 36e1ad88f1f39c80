#pragma once
// Commands of `svc-agent ctl` as data: a table for each noun.
#include <functional>
#include <limits>

#include "instance-agent/agent/ctl/agent_client.h"
#include "instance-agent/agent/ctl/ctl.h"
#include "instance-agent/agent/ctl/ctl_words.h"

namespace svc::agent {

struct CtlCall {
    const AgentClient& agent;
    const CtlWords& words;
    const CtlStreams& streams;

    const std::string& plain(std::size_t at) const { return words.plain().at(at); }
    void print(const Json& metadata) const;  // prints nothing for null
};

inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

struct CtlCommand {
    std::string_view noun, verb;          // verb "": the command is the noun alone
    std::string_view usage;               // the help text of the arguments
    std::size_t least = 0, most = 0;      // number of arguments that are not flags
    std::vector<std::string_view> flags;  // each takes a value
    std::function<void(const CtlCall&)> run;
};

std::vector<CtlCommand> location_ctl();
std::vector<CtlCommand> camera_ctl();
std::vector<CtlCommand> sensors_ctl();
std::vector<CtlCommand> trace_ctl();
std::vector<CtlCommand> platform_ctl();
std::vector<CtlCommand> vehicle_ctl();
std::vector<CtlCommand> telephony_ctl();

// The verbs "enable" and "disable", which POST to `path`, and "show", which reads it.
std::vector<CtlCommand> switch_ctl(std::string_view noun, const std::string& path);

// The content of a file, or of standard input for "-". Throws `exhausted` beyond `most` bytes.
std::string read_input(const CtlCall& call, const std::string& file, std::size_t most);

}  // namespace svc::agent

#pragma once
// One command of `svc-agent ctl` as data, and the tables of them.
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
    void print(const Json& metadata) const;  // nothing for null
};

inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

struct CtlCommand {
    std::string_view noun, verb;          // a verb of "": the noun is all
    std::string_view usage;               // what follows
    std::size_t least = 0, most = 0;      // words that are no flags
    std::vector<std::string_view> flags;  // all with a value
    std::function<void(const CtlCall&)> run;
};

std::vector<CtlCommand> location_ctl();
std::vector<CtlCommand> camera_ctl();
std::vector<CtlCommand> sensors_ctl();
std::vector<CtlCommand> trace_ctl();
std::vector<CtlCommand> platform_ctl();
std::vector<CtlCommand> vehicle_ctl();

// "enable" and "disable", that POST to `path`, and "show", that reads it.
std::vector<CtlCommand> switch_ctl(std::string_view noun, const std::string& path);

// A file, or standard input for "-". Throws `exhausted` beyond `most` bytes.
std::string read_input(const CtlCall& call, const std::string& file, std::size_t most);

}  // namespace svc::agent

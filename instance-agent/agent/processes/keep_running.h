#pragma once
// `svc-agent keep-running`: a hook's way to leave a program behind that is started again when it fails.
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/processes/program.h"

namespace svc::agent {

struct KeptProgram {
    std::filesystem::path log;  // its output, and when it was started; bounded. Beside it lies a lock
    std::vector<std::string> arguments;  // [0] is an absolute path
};

// Runs it until it ends with status 0, or `stop` is requested: then its group gets SIGTERM, 2 s later
// SIGKILL. In between it is started again after 1, 2, 4 ... 30 s; after a minute of running from the start of
// that row.
void keep_running(const KeptProgram& program, const std::vector<std::string>& environment, Clock& clock,
                  std::stop_token stop);

// With the words that follow "keep-running". Returns the exit status: 0, and a process of its own keeps the
// program running (or did already); 1 it cannot be; 2 wrong usage.
int run_keep_running(const std::vector<std::string>& words) noexcept;

}  // namespace svc::agent

#pragma once
// `svc-agent keep-running`: hooks use it to leave a program running that is restarted when it fails.
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/processes/program.h"

namespace svc::agent {

struct KeptProgram {
    std::filesystem::path
        log;  // output and start times of the program, a BoundedFile; the lock file stands beside it
    std::vector<std::string> arguments;  // [0] is an absolute path
};

// Runs the program until it ends with status 0 or `stop` is requested; a stopped program's process group gets
// SIGTERM, 2 s later SIGKILL. A program that failed is restarted after 1, 2, 4 ... 30 s; when it has run for
// a minute, the pauses begin at 1 s again.
void keep_running(const KeptProgram& program, const std::vector<std::string>& environment, Clock& clock,
                  std::stop_token stop);

std::vector<std::string> our_environment();  // of this process: "NAME=value"

// Takes the words behind "keep-running" and returns the exit status: 0, a background process keeps the
// program running (or one did already). Throws Error where that process could not be started,
// invalid_argument for wrong usage.
int run_keep_running(const std::vector<std::string>& words);

}  // namespace svc::agent

#pragma once
// The program behind main().
#include <string>
#include <vector>

#include "cli/connection/context.h"

namespace svc::cli {

// Runs the command line and returns the exit status: 0 done; 1 the service refused or failed; 2 wrong usage;
// 3 service unreachable; `exec` has its own (actions/exec_in_instance.h). Writes errors to `err`.
int run(const std::vector<std::string>& words, const Environment& environment) noexcept;

}  // namespace svc::cli

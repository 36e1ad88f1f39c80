#pragma once
// The whole program behind main(): what the words ask for, and the exit status.
#include <string>
#include <vector>

#include "cli/remote/context.h"

namespace svc::cli {

// 0 ok; 1 the service refused or failed; 2 wrong usage; 3 service unreachable; `exec` has its own
// (commands/exec.cpp). Reports what went wrong on `err`. Never throws.
int run(const std::vector<std::string>& words, const Environment& environment) noexcept;

}  // namespace svc::cli

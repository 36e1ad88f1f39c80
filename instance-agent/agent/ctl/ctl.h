#pragma once
// `svc-agent ctl`: the control API for scripts in the instance.
#include <string>
#include <vector>

namespace svc::agent {

struct CtlStreams {
    int in = 0, out = 1, err = 2;
};

// Runs the command in `words`, which follow "ctl". Prints an answer's metadata as JSON, errors to `err`.
// Returns the exit status: 0 done; 1 refused or failed; 2 wrong usage; 3 no agent answers.
int run_ctl(const std::vector<std::string>& words, const CtlStreams& streams = {}) noexcept;

}  // namespace svc::agent

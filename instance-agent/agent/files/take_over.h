#pragma once
// svc-agent take-over: a guest that was booted before its launch gets name and user data of the launch
// (docs/pool.md).
#include <string>
#include <vector>

namespace svc::agent {

// take-over NAME: sets the host name; standard input is the user data, which is in its file before this
// returns. Repeatable. Throws invalid_argument for wrong usage, internal.
int run_take_over(const std::vector<std::string>& words);

}  // namespace svc::agent

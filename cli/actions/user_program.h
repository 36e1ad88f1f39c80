#pragma once
// Programs of the user's machine that svcctl calls.
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace svc::cli {

// Runs words[0], found in PATH, with the user's environment until it ends; it is killed with svcctl.
// `descriptors`: {ours, the program's}. Returns its exit status, 128 + signal where one ended it; nothing
// where it is not installed.
std::optional<int> run_user_program(const std::vector<std::string>& words,
                                    std::vector<std::pair<int, int>> descriptors);

}  // namespace svc::cli

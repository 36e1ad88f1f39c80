#pragma once
// Completion scripts, made from the command table.
#include <string>

namespace svc::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace svc::cli

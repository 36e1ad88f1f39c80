#pragma once
// svcd check, recover, export and import: the tools of an operator for a state directory.
#include <optional>

namespace svc::server::state {

// Runs the tool that the first argument names. Nothing: it names none. Exit status: 0 nothing is wrong, or it
// is done; 1 something is wrong, or it failed; 2 wrong usage.
std::optional<int> run_tool(int argc, const char* const* argv);

}  // namespace svc::server::state

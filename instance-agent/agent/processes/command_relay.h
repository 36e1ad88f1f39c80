#pragma once
// svc-agent relay [--terminal WIDTHxHEIGHT] -- COMMAND [ARGUMENT...]: runs a command for the service, over
// three pipes. LXD 5.0.2 loses the last bytes of its own terminals, and waits for every child that keeps a
// pipe.
#include <string>
#include <vector>

namespace svc::agent {

// Frames (libsvc/base/frames.h) on standard input: data, end_input, window. On standard output: data, then
// ended or not_started. Standard error is the command's own. Ends with the command, after all that it has
// written; kills it when standard input is closed. Signals are passed on. Returns the exit status. Throws
// invalid_argument for wrong usage.
int run_command_relay(const std::vector<std::string>& words);

}  // namespace svc::agent

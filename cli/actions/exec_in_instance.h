#pragma once
// Runs a command in an instance and joins it to the client's standard streams.
#include <string>

#include "cli/connection/context.h"
#include "libsvc/model/instances/instance.h"

namespace svc::cli {

// When the request is interactive, the terminal is raw meanwhile and its size is forwarded. Signals are
// always forwarded. Returns the command's exit status, 125 when it could not be run, 124 when the connection
// was lost.
int run_in_instance(Context& context, const std::string& instance, ExecRequest request);
// The same, with other streams.
int run_in_instance(Context& context, const std::string& instance, ExecRequest request,
                    const Console& console);

}  // namespace svc::cli

#pragma once
// A command in an instance, joined to our own standard streams.
#include <string>

#include "cli/remote/context.h"
#include "libsvc/model/instances/instance.h"

namespace svc::cli {

// Interactive when the request says so: the terminal is raw meanwhile, and its size is forwarded. Signals are
// forwarded either way. Returns the command's own status, 125 when it could not be run, 124 when the
// connection was lost.
int run_in_instance(Context& context, const std::string& instance, ExecRequest request);
// The same, joined to other streams.
int run_in_instance(Context& context, const std::string& instance, ExecRequest request,
                    const Console& console);

}  // namespace svc::cli

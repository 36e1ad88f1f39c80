#pragma once
// The subcommands of svc-bench. Each prints what it measured as one JSON object a line and returns the exit
// status.
#include "tests/bench/load/arguments.h"

namespace svc::bench {

int http_command(const Arguments& arguments);
int events_command(const Arguments& arguments);
int idle_command(const Arguments& arguments);
int commits_command(const Arguments& arguments);
int gateway_command(const Arguments& arguments);
int relay_command(const Arguments& arguments);
int signalling_command(const Arguments& arguments);

}  // namespace svc::bench

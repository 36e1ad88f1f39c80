#pragma once
// What the launcher does for the runtime, each once, in a process of its own. Each function returns the exit
// status of the program, after a message on the control socket. `folder` is that of the container.
#include <string>

#include "libsvc/runtime/lxc/launcher/monitor.h"

namespace svc::lxc {

int start_container(const MonitorStart& start, int lock);
int query_container(const std::string& folder);
int start_agent(const std::string& folder);
int execute_command(const std::string& folder, unsigned root_id, const char* terminal_size);  // null: none

// The pid of the init that runs; 0: none.
int running_init(const std::string& folder);

}  // namespace svc::lxc

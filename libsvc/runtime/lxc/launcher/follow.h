#pragma once
// What the monitor does while an init runs, and when it has ended.
#include "libsvc/runtime/lxc/launcher/boot.h"
#include "libsvc/runtime/lxc/launcher/console.h"

namespace svc::lxc {

// Keeps the console until init has ended. Returns its status as the exit file has it.
int follow(const Boot& boot, ConsoleLog& log);
// The kernel ends init so when the guest calls reboot().
bool restarts_itself(int status);
bool ended_at_once(const Boot& boot);
void run_stop_command(const std::string& command);  // of the plan; empty: none

}  // namespace svc::lxc

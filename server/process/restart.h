#pragma once
// A process that begins anew.

#include <string_view>

namespace svc::process {

// Logs `reason` and executes this program again with the same arguments, under the same process id; systemd
// sees a reload. Files and sockets are closed by that, and children go on. Returns when it cannot, after it
// has logged why.
// Once end_restarts() was called it ends the process instead, with status 0 and at once. Any thread.
void restart_self(std::string_view reason);

// From now on the process ends: `signal` has told it to. Where it begins anew at this moment, the signal is
// left to the program that takes its place.
void end_restarts(int signal);

}  // namespace svc::process

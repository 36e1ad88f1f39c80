#pragma once
// A process that begins anew.

#include <string_view>

namespace svc::process {

// Logs `reason` and executes this program again with the same arguments, under the same process id; systemd
// sees a reload. Files and sockets are closed by that, and children go on. Returns when it cannot, after it
// has logged why.
void restart_self(std::string_view reason);

}  // namespace svc::process

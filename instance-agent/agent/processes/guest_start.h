#pragma once
// Tells one start of the instance from the next: by the boot of the machine and the start of the instance's
// first process, as /proc has them.
#include <string>

#include "instance-agent/agent/files/paths.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

struct GuestStart {
    std::string key;  // the same for the whole of one start, never for two
    Duration age{};   // since the first process started
};
// Throws Error when /proc cannot be read.
GuestStart guest_start(const Paths& paths);

// The key alone. Empty when /proc cannot be read.
std::string guest_start_key(const Paths& paths);

}  // namespace svc::agent

#pragma once
// adb on this machine for an Android guest.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/connection/context.h"

namespace svc::cli {

// Runs `adb WORD...` for the adbd that listens at `port` of the instance, through a forward that lasts as
// long. Returns its exit status. Ctrl-C is adb's business meanwhile. Throws unavailable where adb is not
// installed, or cannot connect.
int run_adb(Context& context, const std::string& instance, std::uint16_t port,
            const std::vector<std::string>& words);

}  // namespace svc::cli

#pragma once
// The table of configuration keys: name, what it means, how its value is read. The command line's flags are
// the same keys with `-` for `_`.
#include <span>

#include "server/options.h"

namespace svc::server {

using Setting = process::Setting<Options>;

std::span<const Setting> settings();

}  // namespace svc::server

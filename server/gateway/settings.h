#pragma once
// The table of configuration keys: how each value is read. Flags are the same keys with `-` for `_`.
#include <span>

#include "server/gateway/options.h"

namespace svc::gateway {

using Setting = process::Setting<Options>;

std::span<const Setting> settings();

}  // namespace svc::gateway

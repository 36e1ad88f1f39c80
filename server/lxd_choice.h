#pragma once
// The runtime lxd as the options name it.
#include <functional>
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/runtime/lxd/lxd_runtime.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

// The way to LXD. Throws invalid_argument for certificates that do not belong together.
Target lxd_target(const LxdSettings& lxd);
// `on_left`: LxdOptions. Throws as lxd_target() and LxdRuntime do.
std::unique_ptr<LxdRuntime> build_lxd(const Options& options, const StateDirectory& state, Clock& clock,
                                      std::function<void()> on_left = {});

}  // namespace svc::server

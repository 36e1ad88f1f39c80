#pragma once
// The runtime that the options name.
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/store/store.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

struct BuiltRuntime {
    std::unique_ptr<Runtime> runtime;
    LayerStore* layers = nullptr;  // part of the runtime
    // Tells it of other machines of the cluster; empty where it has no network.
    std::function<void(const std::vector<PeerNetwork>&)> set_peers = {};
};

using GuestIsUp = std::function<void(std::string_view instance_id)>;

// `lxc`, `lxd` or `simulated`. `guest_is_up`: called for a simulated guest; it may block. Throws Error when
// the machine lacks what the runtime needs. Asks `store` which containers hold data.
// `on_left`: LxdOptions.
BuiltRuntime build_runtime(const Options& options, const StateDirectory& state, Clock& clock,
                           GuestIsUp guest_is_up, Store& store, std::function<void()> on_left = {});

// For uninstalling: removes every container of the state directory, then the bridge and the rules. Records,
// packages and layers stay. Throws busy while a daemon uses the directory.
void tear_down(const Options& options);

}  // namespace svc::server

#pragma once
// The runtime that the options name.
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/management/guest_reports.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/store/store.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

struct BuiltRuntime {
    std::unique_ptr<Runtime> runtime;
    LayerStore* layers = nullptr;  // part of the runtime
};

// `lxc` or `simulated`. A simulated guest that is up is told to `reports`, which outlives the runtime. Throws
// Error when the machine lacks what the runtime needs.
// Asks `store` which containers hold data.
BuiltRuntime build_runtime(const Options& options, const StateDirectory& state, Clock& clock,
                           GuestReports& reports, Store& store);

// For uninstalling: removes every container of the state directory, then the bridge and the rules. Records,
// packages and layers stay. Throws busy while a daemon uses the directory.
void tear_down(const Options& options);

}  // namespace svc::server

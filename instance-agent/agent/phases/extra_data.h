#pragma once
// Copies the extra data of an application to where its manifest says.
#include <string>
#include <vector>

#include "instance-agent/agent/phases/phase_context.h"

namespace svc::agent {

// Copies each APP_DIR/extra-data/<name> to <target>/<name> of the guest, with owner and permissions
// (defaults: docs/agent.md), and makes missing parent folders. Returns notes about owners that the guest does
// not know: such files belong to root. Throws Error "extra data 'name': ...".
std::vector<std::string> place_extra_data(const PhaseContext& phase);

}  // namespace svc::agent

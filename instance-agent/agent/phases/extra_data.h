#pragma once
// Places the extra data of an application where its manifest says.
#include <string>
#include <vector>

#include "instance-agent/agent/phases/phase_work.h"

namespace svc::agent {

// Copies each APP_DIR/extra-data/<name> to <target>/<name> of the guest, with owner and permissions
// (defaults: docs/agent.md); missing parents are made. Returns notes about owners that the guest does not
// know, which became root. Throws Error "extra data 'name': ...".
std::vector<std::string> place_extra_data(const Work& work);

}  // namespace svc::agent

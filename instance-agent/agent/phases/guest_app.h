#pragma once
// Installs the Android package of an application into the guest.
#include <optional>
#include <string>

#include "instance-agent/agent/phases/phase_context.h"

namespace svc::agent {

// Installs app.apk of the application with the guest's `pm` and grants the required permissions. Does nothing
// without app.apk. Without `pm` in the guest it leaves app.apk to the hooks and returns a note. Throws Error
// "cannot install app.apk: ...".
std::optional<std::string> install_app(const PhaseContext& phase);

}  // namespace svc::agent

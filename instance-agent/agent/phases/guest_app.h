#pragma once
// Installs the application's package into the guest, where the guest knows how to.
#include <optional>
#include <string>

#include "instance-agent/agent/phases/phase_work.h"

namespace svc::agent {

// Installs app.apk of the application with the guest's `pm` and grants the required permissions. Nothing to
// do without app.apk; a guest without `pm` keeps it for the hooks, and the note says so. Throws Error "cannot
// install app.apk: ...".
std::optional<std::string> install_app(const Work& work);

}  // namespace svc::agent

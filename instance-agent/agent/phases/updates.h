#pragma once
// Security updates of the guest, before its packages are installed.
#include <optional>
#include <string>

#include "instance-agent/agent/phases/phase_context.h"

namespace svc::agent {

// Runs the guest's package manager (apt-get, apk). A failure is returned as a note: it does not fail the
// instance.
std::optional<std::string> install_updates(const PhaseContext& phase);

// The text of an apt source file with `mirror` in place of every archive but that of Debian's security
// updates, which mirrors do not carry.
std::string use_mirror(const std::string& sources, const std::string& mirror);

}  // namespace svc::agent

#pragma once
// Security updates of the guest, before its packages are installed.
#include <optional>
#include <string>

#include "instance-agent/agent/phases/phase_work.h"

namespace svc::agent {

// Runs the guest's package manager (apt-get, apk). What it could not do comes back as a note: an instance
// without its updates is still an instance.
std::optional<std::string> install_updates(const Work& work);

// The text of an apt source file with every archive of it replaced by `mirror`, except the separate one of
// Debian's security updates, which mirrors do not carry.
std::string use_mirror(const std::string& sources, const std::string& mirror);

}  // namespace svc::agent

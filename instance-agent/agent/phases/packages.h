#pragma once
// Packages come from the service and are unpacked where their hooks expect them.
#include <filesystem>

#include "instance-agent/agent/phases/phase_work.h"
#include "instance-agent/agent/service/service.h"

namespace svc::agent {

// Whether this very package lies unpacked in its directory already.
bool is_unpacked(const Paths& paths, const PackageRef& package);

// Downloads into Paths::downloads(), straight to disk, and checks size and digest. Asks up to three times
// while the service cannot be reached or what comes is not the package. Throws Error "cannot fetch addon ssh:
// ..."; a refusal of the service is not repeated.
void fetch_package(const Work& work, const Call& call, const PackageRef& package);

// Puts the downloaded package in the place of what is in its directory, and removes the download. Throws
// Error "cannot unpack addon ssh: ...".
void unpack_fetched(const Work& work, const PackageRef& package);

}  // namespace svc::agent

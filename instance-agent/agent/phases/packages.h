#pragma once
// Fetches packages from the service and unpacks them where their hooks expect them.
#include <filesystem>

#include "instance-agent/agent/phases/phase_context.h"
#include "instance-agent/agent/service/service_calls.h"

namespace svc::agent {

// Whether the package with this digest is unpacked already.
bool is_unpacked(const Paths& paths, const PackageRef& package);

// Downloads the package to a file in Paths::downloads() and checks its size and digest. Retries twice when
// the service cannot be reached, or when size or digest are wrong. Throws Error "cannot fetch addon ssh:
// ..."; a refusal of the service is not retried.
void fetch_package(const PhaseContext& phase, const Call& call, const PackageRef& package);

// Unpacks the downloaded file in place of the package's folder, and removes the file. Throws Error "cannot
// unpack addon ssh: ...".
void unpack_fetched(const PhaseContext& phase, const PackageRef& package);

}  // namespace svc::agent

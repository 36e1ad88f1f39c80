#pragma once
// What svcd's options mean for the services.
#include "libsvc/management/management_service.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

ManagementOptions management_options(const Options& options, const StateDirectory& state);

}  // namespace svc::server

#pragma once
// The base container in which a version is made: what is launched, and what of it is no part of the version.
#include <string>
#include <vector>

#include "libsvc/model/packages/application.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

// The launch of the version's base container, without a requestor.
BaseLaunch base_launch_of(const Application& application, const ApplicationVersion& version);
}  // namespace svc

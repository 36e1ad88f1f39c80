#pragma once
// Of lines about who logs in, which stay in the log of the machine: no event is made of them.
#include "libsvc/base/log.h"

namespace svc {

inline const log::Field for_admins{"for", "admins"};

}  // namespace svc

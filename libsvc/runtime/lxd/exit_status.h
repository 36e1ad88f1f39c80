#pragma once
// Why an init ended: LXD does not tell, Linux does since 6.15, to whoever holds a pidfd.
#include "libsvc/runtime/lxc/records.h"

namespace svc::lxd {

// Of an ended process. Without its status the end does not count as clean.
lxc::ExitCause exit_cause(int pidfd);

}  // namespace svc::lxd

#pragma once
// The flags that say when an instance is deleted by itself, of a launch and of a later change.
#include <vector>

#include "cli/command_line/command.h"
#include "libsvc/base/json.h"

namespace svc::cli {

std::vector<Flag> lifetime_flags();  // --expires-after, --idle-after
// Sets the fields of the request whose flags are given. The service checks them.
void set_lifetime(Json& request, const Arguments& arguments);

}  // namespace svc::cli

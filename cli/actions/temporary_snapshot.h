#pragma once
// A snapshot that a command takes for itself.
#include <functional>
#include <string>

#include "cli/actions/operation_wait.h"

namespace svc::cli {

// Takes a snapshot of a stopped instance, calls `use` with its id, and deletes it; also when the snapshot
// fails, after Ctrl-C, and when `use` throws. Returns false when the snapshot could not be deleted; an error
// line names it then. `waiting` must be one that waits (no --no-wait). Throws what the service answers.
bool with_temporary_snapshot(Context& context, Waiting& waiting, const std::string& instance,
                             const std::function<void(const std::string& snapshot)>& use);

}  // namespace svc::cli

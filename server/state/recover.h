#pragma once
// Mends a state directory as far as it can be (docs/state-directory.md). Nothing is deleted but leftovers
// that the next start would delete: what is taken out goes into quarantine/.
#include "server/state/finding.h"
#include "server/state/paths.h"

namespace svc::server::state {

struct RecoverOptions {
    std::string runtime = "lxc";
};

// What was mended (warnings) and what is lost (errors). Throws busy while svcd uses the directory,
// unsupported for one of a newer version.
Findings recover_state(const StatePaths& paths, const RecoverOptions& options);

}  // namespace svc::server::state

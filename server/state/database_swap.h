#pragma once
// Puts a new database into the place of the one in use, so that a process that is killed meanwhile loses
// nothing: what SQLite has in svc.db-wal counts as much as what is in svc.db.
#include "server/state/paths.h"
#include "server/state/quarantine.h"

namespace svc::server::state {

// The old files stay in the quarantine. While both may be in use, the file `recovering` names it.
void swap_database(const StatePaths& paths, const std::filesystem::path& made, Quarantine& quarantine);

// Takes a swap back that was interrupted. False: there was none.
bool undo_interrupted_swap(const StatePaths& paths);

}  // namespace svc::server::state

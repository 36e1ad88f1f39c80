#pragma once
// Looks at a state directory and tells what is wrong with it (docs/state-directory.md). Changes nothing.
#include <functional>
#include <string>

#include "server/state/finding.h"
#include "server/state/paths.h"
#include "server/state/records.h"

namespace svc::server::state {

struct CheckOptions {
    std::string runtime = "lxc";
    bool read_packages = true;                        // false: their content is not compared with their names
    std::function<StoredValues()> records = nullptr;  // null: those of svc.db
};

// Throws where nothing can be told: not_found for a folder that is no state directory, unsupported for one of
// a newer version.
Findings check_state(const StatePaths& paths, const CheckOptions& options);

// The parts. Each tells of one kind of thing.
bool daemon_runs(const StatePaths& paths);
// Nothing: the database cannot be read to its end, which is among the findings.
std::optional<StoredValues> check_database(const StatePaths& paths, Findings& findings);
void check_records(const Records& records, Findings& findings);
void check_blob_content(const StatePaths& paths, Findings& findings);
void check_blobs(const StatePaths& paths, const Records& records, Findings& findings);
void check_layers(const StatePaths& paths, const Records& records, Findings& findings);
void check_containers(const StatePaths& paths, const Records& records, Findings& findings);
void check_identity(const StatePaths& paths, Findings& findings);
void check_files(const StatePaths& paths, const Records& records, Findings& findings);

}  // namespace svc::server::state

#pragma once
// A backup of a state directory, also while svcd uses it (docs/state-directory.md).
#include <filesystem>
#include <functional>
#include <string>

#include "server/state/finding.h"
#include "server/state/paths.h"
#include "server/state/records.h"

namespace svc::server::state {

struct ExportOptions {
    std::string runtime = "lxc";
    bool disks = false;  // of instances that do not run
    std::uint32_t id_count = 65536;
    std::function<StoredValues()> records = nullptr;  // of one moment; null: those of svc.db
};

// Returns what is not in the backup, or may be of no use. Throws where the backup would not be whole.
Findings export_state(const StatePaths& paths, const std::filesystem::path& file,
                      const ExportOptions& options);

}  // namespace svc::server::state

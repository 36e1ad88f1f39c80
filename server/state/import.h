#pragma once
// Makes a state directory of a backup, on this machine or another one (docs/state-directory.md).
#include <cstdint>
#include <filesystem>
#include <string>

#include "server/state/finding.h"

namespace svc::server::state {

struct ImportOptions {
    std::string node_name;      // of this machine
    std::uint32_t id_base = 0;  // first host id of all containers; 0: chosen as svcd does
    std::uint32_t id_count = 65536;
    std::string database = "svc.db";  // name of the file of records in `target`
};

// `target` must not exist, or be empty. It appears when every file is there, verified and synced; else
// nothing is left. Returns what differs from the original. Throws invalid_argument for what is no whole
// backup.
// What is left of an import into etcd until etcd has the records.
inline constexpr const char* waiting_records = "importing.db";

Findings import_state(const std::filesystem::path& file, const std::filesystem::path& target,
                      const ImportOptions& options);

}  // namespace svc::server::state

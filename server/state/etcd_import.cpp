#include "server/state/etcd_import.h"

#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "server/state/etcd_records.h"

namespace svc::server::state {

namespace fs = std::filesystem;

namespace {

StoredValues waiting_values(const fs::path& database) {
    SqliteConnection connection = SqliteConnection::read_only(database);
    return read_values(connection);
}

void remove_waiting(const fs::path& database) {
    for (const char* suffix : {"-wal", "-shm", ""}) fs::remove(database.string() + suffix);
    sync_directory(database.parent_path());
}

}  // namespace

Findings import_to_cluster(const fs::path& file, const fs::path& target, ImportOptions options,
                           const EtcdOptions& etcd) {
    const fs::path clean = fs::absolute(target);
    const fs::path waiting = clean / waiting_records;
    EtcdImport import(etcd, options.node_name + ":" + clean.string());
    Findings findings;
    options.database = waiting_records;
    if (is_there(waiting))
        findings.note("import", "goes on where it was interrupted");
    else
        findings = import_state(file, target, options);
    import.finish(waiting_values(waiting));
    remove_waiting(waiting);
    return findings;
}

}  // namespace svc::server::state

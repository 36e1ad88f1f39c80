#include "server/state/database_swap.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

fs::path log_of(const fs::path& database) {
    return database.native() + "-wal";
}

// SQLite makes the -shm again. It must not be of another database.
void remove_companions(const StatePaths& paths) {
    fs::remove(log_of(paths.database()));
    fs::remove(paths.database().native() + "-shm");
    sync_directory(paths.root());
}

// Over what is there, so that there is a file at every moment.
void put_back(const fs::path& kept, const fs::path& target, const fs::path& root) {
    const fs::path name = root / ".recover-old";
    fs::remove(name);
    fs::create_hard_link(kept, name);
    fs::rename(name, target);
    fs::remove(name);  // a rename to another name of the same file does nothing
}

fs::path kept_in(const StatePaths& paths, std::string_view folder) {
    const fs::path kept = paths.root() / std::string(folder) / "svc.db";
    if (folder.starts_with("quarantine/") && folder.find("..") == std::string_view::npos && is_there(kept))
        return kept;
    throw Error(ErrorCode::internal,
                "the file recovering is damaged: it names the folder in quarantine/ that "
                "has the files svc.db and svc.db-wal from before svcd recover");
}

}  // namespace

void swap_database(const StatePaths& paths, const fs::path& made, Quarantine& quarantine) {
    quarantine.write("why", "svcd recover replaced svc.db\n");
    quarantine.keep(paths.database(), "svc.db");
    quarantine.keep(log_of(paths.database()), "svc.db-wal");
    write_file_atomically(paths.recovering(), quarantine.name() + "\n");
    fs::rename(made, paths.database());
    remove_companions(paths);
    fs::remove(paths.recovering());
    sync_directory(paths.root());
}

bool undo_interrupted_swap(const StatePaths& paths) {
    const auto folder = read_if_there(paths.recovering());
    if (!folder) return false;
    const fs::path kept = kept_in(paths, trim(*folder));
    remove_companions(paths);
    put_back(kept, paths.database(), paths.root());
    if (is_there(log_of(kept))) put_back(log_of(kept), log_of(paths.database()), paths.root());
    sync_directory(paths.root());
    fs::remove(paths.recovering());
    sync_directory(paths.root());
    return true;
}

}  // namespace svc::server::state

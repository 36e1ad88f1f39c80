#include "server/state/check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <algorithm>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"

namespace svc::server::state {

namespace {

constexpr int newest_format = 1;  // of libsvc/store/sqlite/sqlite_store.cpp
constexpr const char* mend = "stop svcd and run svcd recover";

void check_integrity(SqliteConnection& connection, Findings& findings) {
    SqliteStatement rows(connection, "PRAGMA integrity_check(20)");
    while (rows.step())
        if (const std::string row = rows.column_text(0); row != "ok")
            findings.error("svc.db", "damaged: " + row, mend);
}

// While a daemon works, records and files change together, but are read one after the other: what is wrong
// must be wrong at two moments.
Findings check_content(const StatePaths& paths, const CheckOptions& options, const StoredValues& values) {
    Findings findings;
    const Records records(values);
    check_records(records, findings);
    check_blobs(paths, records, findings);
    if (options.runtime == "lxc") check_layers(paths, records, findings);
    if (options.runtime == "lxc") check_containers(paths, records, findings);
    check_files(paths, records, findings);
    return findings;
}

}  // namespace

bool daemon_runs(const StatePaths& paths) {
    if (!is_there(paths.root() / "lock")) return false;
    const FileDescriptor lock = open_file(paths.root() / "lock", O_RDONLY);
    if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return false;  // released with the descriptor
    if (errno != EWOULDBLOCK) throw system_error("cannot look at the lock of the state directory", errno);
    return true;
}

std::optional<StoredValues> check_database(const StatePaths& paths, Findings& findings) {
    if (is_there(paths.recovering())) {
        findings.error("svc.db", "svcd recover was interrupted", "run svcd recover again");
        return std::nullopt;
    }
    if (!is_there(paths.database())) {
        findings.error("svc.db", "it is missing, and with it every record",
                       "restore a backup with svcd import; a daemon that is started makes an empty one");
        return std::nullopt;
    }
    try {
        SqliteConnection connection = SqliteConnection::read_only(paths.database());
        if (connection.query_int("PRAGMA user_version") > newest_format)
            throw Error(ErrorCode::unsupported, "svc.db was written by a newer version of svcd");
        check_integrity(connection, findings);
        return read_values(connection);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unsupported) throw;
        findings.error("svc.db", e.what(), mend);
        return std::nullopt;
    }
}

void check_records(const Records& records, Findings& findings) {
    for (const BrokenRecord& broken : records.broken) {
        const std::string advice =
            broken.newer ? "run the version of svcd that wrote it" : "delete its object, or run svcd recover";
        findings.error("record " + broken.key, broken.reason, advice);
    }
    for (const BrokenRecord& each : records.invalid_settings)
        findings.warning("record " + each.key, each.reason + "; the default counts", "set it anew");
    for (const std::string& key : records.unknown)
        findings.note("record " + key, "of a kind that this version does not know");
    for (const std::string& key : records.copies)
        findings.note("record " + key, "copy of an unreadable record that was written over");
    for (const auto& [name, id] : records.wanted_names)
        if (const auto found = records.names.find(name); found == records.names.end() || found->second != id)
            findings.error("record names/" + name, "does not lead to " + id, mend);
    for (const auto& [name, id] : records.names) {
        const std::string owner = name.substr(0, name.find('/') + 1) + id;
        const auto is_owner = [&](const BrokenRecord& each) { return each.key == owner; };
        if (records.wanted_names.contains(name) || std::ranges::any_of(records.broken, is_owner)) continue;
        findings.error("record names/" + name, "keeps a name that nothing has", mend);
    }
    for (const auto& [id, instance] : records.instances)
        if (!instance.node.empty() && !records.nodes.contains(*instance.node))
            findings.warning("instance " + id,
                             "is on node " + *instance.node + ", which there is no record of",
                             "delete it, or start svcd with that node_name");
    for (const auto& [id, operation] : records.operations)
        if (!is_final(operation.status))
            findings.note("operation " + id, operation.description + ": not ended, svcd goes on with it");
}

// Packages and layers that this machine lacks are another one's to have.
static Findings check_cluster(const StatePaths& paths, const CheckOptions& options) {
    Findings findings;
    check_records(Records(options.records()), findings);
    if (options.read_packages && is_there(paths.blobs())) check_blob_content(paths, findings);
    return findings;
}

Findings check_state(const StatePaths& paths, const CheckOptions& options) {
    if (options.records) return check_cluster(paths, options);
    if (!is_there(paths.root())) throw Error(ErrorCode::not_found, paths.root().string() + " does not exist");
    if (!is_there(paths.database()) && !is_there(paths.blobs()))
        throw Error(ErrorCode::not_found, paths.root().string() + " is no state directory of svcd");
    Findings findings;
    const bool live = daemon_runs(paths);
    if (live) findings.note("state directory", "svcd uses it: only what is wrong at two moments is told");
    const auto values = check_database(paths, findings);
    if (values) {
        Findings content = check_content(paths, options, *values);
        Findings ignored;
        if (live && !content.clean())
            if (const auto later = check_database(paths, ignored))
                content.keep_common(check_content(paths, options, *later));
        findings.add(std::move(content));
    }
    check_identity(paths, findings);
    if (options.read_packages) check_blob_content(paths, findings);
    return findings;
}

}  // namespace svc::server::state

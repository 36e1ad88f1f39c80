#include "server/state/salvage.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/state/database_pages.h"

namespace svc::server::state {

namespace {

constexpr int newest_known_format = 1;
constexpr std::size_t values_per_commit = 500;
// Damage ends a scan; one of each noun, from both ends, gets round it.
constexpr std::array<const char*, 15> starts{"",
                                             "addons/",
                                             "applications/",
                                             "certificates/",
                                             "config/",
                                             "images/",
                                             "instances/",
                                             "join_tokens/",
                                             "names/",
                                             "nodes/",
                                             "operations/",
                                             "sessions/",
                                             "snapshots/",
                                             "unreadable/",
                                             "~"};

void scan_from(SqliteConnection& connection, const char* sql, const std::string& start, Salvaged& into) {
    try {
        SqliteStatement rows(connection, sql);
        rows.bind(1, start);
        while (rows.step())
            into.values.insert_or_assign(rows.column_text(0),
                                         StoredValue{rows.column_text(1), rows.column_int(2)});
    } catch (const Error& e) {
        if (into.damage.empty()) into.damage = e.what();
    }
}

void scan_database(const std::filesystem::path& database, Salvaged& into) {
    SqliteConnection connection = SqliteConnection::read_only(database);
    if (connection.query_int("PRAGMA user_version") > newest_known_format)
        throw Error(ErrorCode::unsupported, "svc.db was written by a newer version of svcd");
    SqliteStatement check(connection, "PRAGMA integrity_check(1)");
    if (check.step() && check.column_text(0) != "ok") into.damage = check.column_text(0);
    check.reset();
    constexpr const char* forward = "SELECT key, value, revision FROM entries WHERE key >= ?1 ORDER BY key";
    constexpr const char* backward =
        "SELECT key, value, revision FROM entries WHERE key < ?1 ORDER BY key DESC";
    scan_from(connection, forward, "", into);
    if (into.damage.empty()) return;
    for (const char* start : starts) {
        scan_from(connection, forward, start, into);
        scan_from(connection, backward, start, into);
    }
}

void add_from_pages(const std::filesystem::path& database, Salvaged& into) {
    StoredValues found;
    DatabasePages(database).scan([&](std::string key, std::string value, std::uint64_t revision) {
        StoredValue& known = found[std::move(key)];
        if (revision >= known.revision) known = {std::move(value), revision};
    });
    const std::size_t before = into.values.size();
    into.values.merge(found);
    into.from_pages = into.values.size() - before;
}

}  // namespace

Salvaged salvage(const std::filesystem::path& database) {
    Salvaged salvaged;
    try {
        scan_database(database, salvaged);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unsupported) throw;
        salvaged.damage = e.what();
    }
    salvaged.whole = salvaged.damage.empty();
    if (!salvaged.whole) add_from_pages(database, salvaged);
    return salvaged;
}

void write_database(const std::filesystem::path& database, const StoredValues& values) {
    {
        SqliteStore store(database);
        Batch batch;
        for (const auto& [key, stored] : values) {
            batch.put(key, stored.value);
            if (batch.changes().size() == values_per_commit) store.commit(std::exchange(batch, {}));
        }
        if (!batch.empty()) store.commit(batch);
    }
    const FileDescriptor file = open_file(database, O_RDWR);
    if (::fsync(file.get()) != 0) throw system_error("cannot sync the new database", errno);
}

}  // namespace svc::server::state

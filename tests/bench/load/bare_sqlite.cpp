#include "tests/bench/load/bare_sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;

class Database {
  public:
    explicit Database(const std::filesystem::path& file) {
        sqlite3* opened = nullptr;
        const int result = sqlite3_open(file.c_str(), &opened);
        database_.reset(opened);
        if (result != SQLITE_OK) fail();
        execute("PRAGMA journal_mode = WAL");
        execute("PRAGMA synchronous = FULL");
        execute(
            "CREATE TABLE entries(key TEXT PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL)"
            " WITHOUT ROWID");
        sqlite3_stmt* made = nullptr;
        if (sqlite3_prepare_v2(opened, "INSERT INTO entries VALUES(?1, ?2, 1)", -1, &made, nullptr) !=
            SQLITE_OK)
            fail();
        insert_.reset(made);
    }
    void execute(const char* sql) {
        if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    }
    void insert(const std::string& key, const std::string& value) {
        sqlite3_bind_text64(insert_.get(), 1, key.data(), key.size(), SQLITE_STATIC, SQLITE_UTF8);
        sqlite3_bind_blob64(insert_.get(), 2, value.data(), value.size(), SQLITE_STATIC);
        if (sqlite3_step(insert_.get()) != SQLITE_DONE) fail();
        sqlite3_reset(insert_.get());
    }

  private:
    [[noreturn]] void fail() const { throw Error(ErrorCode::internal, sqlite3_errmsg(database_.get())); }

    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3, Close> database_;
    std::unique_ptr<sqlite3_stmt, Close> insert_;
};

template <class Step>
double rate_of(std::chrono::milliseconds duration, Step&& step) {
    const auto begin = Steady::now();
    std::uint64_t done = 0;
    while (Steady::now() < begin + duration) done += step();
    return static_cast<double>(done) / std::chrono::duration<double>(Steady::now() - begin).count();
}

}  // namespace

double bare_sqlite_rows(const std::filesystem::path& file, unsigned rows_per_commit, std::size_t value_bytes,
                        std::chrono::milliseconds duration) {
    Database database(file);
    const std::string value(value_bytes, 'v');
    std::uint64_t number = 0;
    return rate_of(duration, [&] {
        database.execute("BEGIN IMMEDIATE");
        for (unsigned i = 0; i < rows_per_commit; ++i)
            database.insert("bench/" + std::to_string(number++), value);
        database.execute("COMMIT");
        return rows_per_commit;
    });
}

double bare_syncs(const std::filesystem::path& file, std::chrono::milliseconds duration) {
    const FileDescriptor log = open_file(file, O_WRONLY | O_CREAT | O_APPEND);
    const std::string page(4096, 'p');
    return rate_of(duration, [&] {
        if (::write(log.get(), page.data(), page.size()) < 0 || ::fdatasync(log.get()) != 0)
            throw system_error("cannot write", errno);
        return 1U;
    });
}

}  // namespace svc::bench

#include "libsvc/store/sqlite/statement.h"

#include <sqlite3.h>

#include <cerrno>

#include "libsvc/base/error.h"

namespace svc {

namespace {

// SQLite keeps the cause of failed reads, not of failed commits.
int cause_of_io_error(sqlite3* database) {
    const int kept = database != nullptr ? sqlite3_system_errno(database) : 0;
    return kept != 0 ? kept : errno;
}

Error sqlite_error(sqlite3* database, int result) {
    const int primary = result & 0xff;
    const int cause = primary == SQLITE_IOERR ? cause_of_io_error(database) : 0;
    if (primary == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT)
        return {ErrorCode::exhausted, "the state database cannot grow: no space left on device"};
    if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
        return {ErrorCode::busy, "the state database is in use by another process"};
    const char* const file = database != nullptr ? sqlite3_db_filename(database, "main") : nullptr;
    const std::string name = file != nullptr ? std::filesystem::path(file).filename().string() : "";
    if (cause != 0) return system_error("state database " + name, cause);
    const std::string reason = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(result);
    const bool damaged = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
    return {ErrorCode::internal, "state database " + name + (damaged ? " is damaged: " : ": ") + reason};
}

}  // namespace

void SqliteConnection::Close::operator()(sqlite3* database) const noexcept {
    sqlite3_close(database);
}
void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
    sqlite3_finalize(statement);
}

SqliteConnection::SqliteConnection(const std::filesystem::path& file)
    : SqliteConnection(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {}

SqliteConnection SqliteConnection::read_only(const std::filesystem::path& file) {
    return {file, SQLITE_OPEN_READONLY};
}

// Each connection is used under a lock of ours or by one thread.
SqliteConnection::SqliteConnection(const std::filesystem::path& file, int mode) {
    sqlite3* database = nullptr;
    const int flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int result = sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
    database_.reset(database);
    if (result != SQLITE_OK) throw sqlite_error(database, result);
}

void SqliteConnection::execute(const char* sql) {
    const int result = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (result != SQLITE_OK) throw sqlite_error(database_.get(), result);
}

std::int64_t SqliteConnection::query_int(const char* sql) {
    SqliteStatement statement(*this, sql);
    return statement.step() ? static_cast<std::int64_t>(statement.column_int(0)) : 0;
}

bool SqliteConnection::in_transaction() const noexcept {
    return sqlite3_get_autocommit(database_.get()) == 0;
}

std::uint64_t SqliteConnection::changes() const noexcept {
    return static_cast<std::uint64_t>(sqlite3_changes(database_.get()));
}

SqliteStatement::SqliteStatement(SqliteConnection& connection, const char* sql)
    : database_(connection.handle()) {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (result != SQLITE_OK) throw sqlite_error(database_, result);
    statement_.reset(statement);
}

void SqliteStatement::check(int result) const {
    if (result != SQLITE_OK) throw sqlite_error(database_, result);
}

SqliteStatement& SqliteStatement::bind(int index, std::string_view text) {
    check(sqlite3_bind_text64(statement_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(),
                              SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}

SqliteStatement& SqliteStatement::bind_blob(int index, std::string_view bytes) {
    check(sqlite3_bind_blob64(statement_.get(), index, bytes.data() == nullptr ? "" : bytes.data(),
                              bytes.size(), SQLITE_STATIC));
    return *this;
}

SqliteStatement& SqliteStatement::bind(int index, std::uint64_t value) {
    check(sqlite3_bind_int64(statement_.get(), index, static_cast<sqlite3_int64>(value)));
    return *this;
}

bool SqliteStatement::step() {
    errno = 0;
    const int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) return false;
    const Error error = sqlite_error(database_, result);
    reset();
    throw error;
}

void SqliteStatement::run() {
    while (step()) {
    }
    reset();
}

std::string SqliteStatement::column_text(int index) const {
    const void* const bytes = sqlite3_column_blob(statement_.get(), index);  // null for an empty value
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), index));
    return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::uint64_t SqliteStatement::column_int(int index) const {
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), index));
}

bool SqliteStatement::is_null(int index) const {
    return sqlite3_column_type(statement_.get(), index) == SQLITE_NULL;
}

void SqliteStatement::reset() noexcept {
    sqlite3_reset(statement_.get());
}

}  // namespace svc

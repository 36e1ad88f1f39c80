#pragma once
// The few SQLite calls the store makes, with ownership and errors as the project has them. Private to this
// folder.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace svc {

// One open database. One thread at a time. Throws Error: exhausted for a full disk, busy for a locked file,
// internal for the rest.
class SqliteConnection {
  public:
    explicit SqliteConnection(const std::filesystem::path& file);
    // Changes nothing; the file must exist. Others may write meanwhile.
    static SqliteConnection read_only(const std::filesystem::path& file);
    void execute(const char* sql);  // statements without results, or whose results do not matter
    std::int64_t query_int(const char* sql);
    bool in_transaction() const noexcept;
    std::uint64_t changes() const noexcept;  // rows touched by the last statement
    sqlite3* handle() const noexcept { return database_.get(); }

  private:
    SqliteConnection(const std::filesystem::path& file, int flags);
    struct Close {
        void operator()(sqlite3* database) const noexcept;
    };
    std::unique_ptr<sqlite3, Close> database_;
};

// One prepared statement. Bound text is not copied: it must outlive the run. Reset before each use.
class SqliteStatement {
  public:
    SqliteStatement(SqliteConnection& connection, const char* sql);
    SqliteStatement& bind(int index, std::string_view text);  // TEXT
    SqliteStatement& bind_blob(int index, std::string_view bytes);
    SqliteStatement& bind(int index, std::uint64_t value);
    bool step();  // true: there is a row
    void run();   // steps to the end and resets
    std::string column_text(int index) const;
    std::uint64_t column_int(int index) const;
    void reset() noexcept;
    bool is_null(int index) const;

  private:
    void check(int result) const;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement at the end of a scope, so that no read transaction stays open.
class StatementScope {
  public:
    explicit StatementScope(SqliteStatement& statement) : statement_(statement) {}
    ~StatementScope() { statement_.reset(); }
    StatementScope(const StatementScope&) = delete;
    StatementScope& operator=(const StatementScope&) = delete;

  private:
    SqliteStatement& statement_;
};

}  // namespace svc

#include "libsvc/store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/store/sqlite/disk_reserve.h"
#include "libsvc/store/sqlite/statement.h"
#include "libsvc/store/watch_list.h"

namespace svc {

namespace {

constexpr int format_version = 1;
constexpr std::size_t max_batches_per_transaction = 256;
constexpr const char* in_memory = ":memory:";
constexpr std::uint64_t reserved_bytes = std::uint64_t{32} << 20;
constexpr std::uint64_t log_bytes = std::uint64_t{9} << 19;  // SQLite begins the log again at 1,000 pages

constexpr const char* schema_sql =
    "CREATE TABLE IF NOT EXISTS entries(key TEXT PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    // The newest revision ever given: that of a removed entry must not come back.
    "CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO meta VALUES('revision', 0);"
    "PRAGMA user_version = 1;";

std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix) {
    std::filesystem::path path = file;
    return path += suffix;
}

FileDescriptor lock_beside(const std::filesystem::path& file) {
    FileDescriptor lock = open_file(beside(file, ".lock"), O_RDWR | O_CREAT);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno == EWOULDBLOCK) throw Error(ErrorCode::busy, "state directory is in use by another process");
    throw system_error("cannot lock the state directory", errno);
}

void prepare(SqliteConnection& connection, bool durable) {
    connection.execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048; PRAGMA trusted_schema = OFF;");
    if (durable)
        connection.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "PRAGMA journal_size_limit = 16777216;");
}

std::unique_ptr<SqliteConnection> open_reader(const std::filesystem::path& file) {
    auto connection = std::make_unique<SqliteConnection>(file);
    prepare(*connection, false);
    return connection;
}

// Syncing what is written over existing blocks takes the disk alone; a file that grows needs its inode and
// the maps of its file system as well, which takes many times as long. Zeros end the log for whoever reads
// it.
void extend_log(const std::filesystem::path& log) try {
    const FileDescriptor file = open_file(log, O_WRONLY | O_CREAT | O_APPEND);
    const std::uint64_t size = std::filesystem::file_size(log);
    if (size < log_bytes) write_all(file.get(), std::string(log_bytes - size, '\0'));
    failpoint("store.log_extended");
} catch (const std::exception& e) {
    log::debug("the state database's log grows as it is written", {{"error", e.what()}});
}

SqliteConnection open_writer(const std::filesystem::path& file, bool durable) {
    if (durable) open_file(file, O_RDWR | O_CREAT);  // with mode 0600, which the WAL inherits
    SqliteConnection connection(file);
    prepare(connection, durable);
    if (connection.query_int("PRAGMA user_version") > format_version)
        throw Error(ErrorCode::unsupported, "the state database was written by a newer version");
    connection.execute(schema_sql);
    failpoint("store.schema_made");
    if (durable) {
        extend_log(beside(file, "-wal"));
        sync_directory(file.has_parent_path() ? file.parent_path() : ".");
    }
    return connection;
}

// One call of commit(), on the stack of the thread that waits for it.
struct Waiter {
    const Batch& batch;
    Revision revision = 0;
    std::exception_ptr error;
    std::vector<WatchEvent> events;
    bool done = false;
    std::condition_variable wake;
};

// The statements of the writer; used by its thread alone.
class Writer {
  public:
    explicit Writer(SqliteConnection& connection) : connection_(connection) {}

    // One transaction: each batch gets its revision and events, or its conflict. When it throws, nothing was
    // changed.
    void write(std::span<Waiter*> group);

  private:
    void apply(Waiter& waiter, Revision newest);
    bool holds(const Batch& batch);
    void end(Revision before, Revision after);

    SqliteConnection& connection_;
    Revision newest_ =
        static_cast<Revision>(connection_.query_int("SELECT value FROM meta WHERE name = 'revision'"));
    SqliteStatement begin_{connection_, "BEGIN IMMEDIATE"};
    SqliteStatement commit_{connection_, "COMMIT"};
    SqliteStatement rollback_{connection_, "ROLLBACK"};
    SqliteStatement revision_of_{connection_, "SELECT revision FROM entries WHERE key = ?1"};
    SqliteStatement put_{connection_,
                         "INSERT INTO entries VALUES(?1, ?2, ?3) ON CONFLICT(key) DO UPDATE"
                         " SET value = excluded.value, revision = excluded.revision"};
    SqliteStatement remove_{connection_, "DELETE FROM entries WHERE key = ?1"};
    SqliteStatement set_newest_{connection_, "UPDATE meta SET value = ?1 WHERE name = 'revision'"};
};

bool Writer::holds(const Batch& batch) {
    return std::all_of(
        batch.expectations().begin(), batch.expectations().end(), [this](const auto& expectation) {
            const StatementScope scope(revision_of_);
            revision_of_.bind(1, expectation.key);
            return (revision_of_.step() ? revision_of_.column_int(0) : 0) == expectation.revision;
        });
}

void Writer::apply(Waiter& waiter, Revision newest) {
    if (!holds(waiter.batch)) {
        waiter.error = std::make_exception_ptr(
            Error(ErrorCode::conflict, "a stored record has changed meanwhile, or exists already"));
        return;
    }
    waiter.revision = waiter.batch.changes().empty() ? newest : newest + 1;
    for (const auto& change : waiter.batch.changes()) {
        if (change.value) {
            put_.bind(1, change.key).bind_blob(2, *change.value).bind(3, waiter.revision).run();
        } else {
            remove_.bind(1, change.key).run();
            if (connection_.changes() == 0) continue;
        }
        waiter.events.push_back({change.key, change.value, waiter.revision});
    }
}

void Writer::end(Revision before, Revision after) {
    if (after == before) return rollback_.run();  // conflicts alone: nothing to sync
    set_newest_.bind(1, after).run();
    failpoint("store.staged");
    commit_.run();
    failpoint("store.committed");
    newest_ = after;
}

void Writer::write(std::span<Waiter*> group) {
    Revision newest = newest_;
    try {
        begin_.run();
        for (Waiter* waiter : group) {
            waiter->error = nullptr;
            waiter->events.clear();
            apply(*waiter, newest);
            if (!waiter->error) newest = waiter->revision;
        }
        end(newest_, newest);
    } catch (...) {
        if (connection_.in_transaction()) rollback_.run();
        throw;
    }
}

}  // namespace

class SqliteStore::Implementation {
  public:
    explicit Implementation(const std::filesystem::path& file)
        : durable_(file != in_memory),
          lock_(durable_ ? lock_beside(file) : FileDescriptor()),
          reserve_(durable_ ? std::make_unique<DiskReserve>(beside(file, ".reserve"), reserved_bytes)
                            : nullptr),
          write_connection_(open_writer(file, durable_)),
          read_connection_(durable_ ? open_reader(file) : nullptr),
          writer_(write_connection_),
          thread_([this] { run(); }) {}
    ~Implementation() {
        {
            std::lock_guard lock(queue_mutex_);
            stopping_ = true;
        }
        queued_.notify_one();
        thread_.join();
    }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    std::optional<Entry> get(std::string_view key);
    void scan(std::string_view prefix, const std::function<void(Entry)>& take);
    Revision commit(const Batch& batch);
    WatchList& watches() { return watches_; }

  private:
    void run();
    std::vector<Waiter*> next_group();
    void write(std::span<Waiter*> group);
    void write_with_reserve(std::span<Waiter*> group);
    void finish(std::span<Waiter*> group);
    SqliteConnection& reader() { return read_connection_ ? *read_connection_ : write_connection_; }

    const bool durable_;
    FileDescriptor lock_;
    const std::unique_ptr<DiskReserve>
        reserve_;  // none in memory; the constructor's, then the writer thread's
    SqliteConnection write_connection_;
    std::unique_ptr<SqliteConnection>
        read_connection_;    // none in memory, where a second one would see nothing
    std::mutex read_mutex_;  // of reader(); in memory also held while writing
    SqliteStatement get_{reader(), "SELECT value, revision FROM entries WHERE key = ?1"};
    SqliteStatement list_{reader(), "SELECT key, value, revision FROM entries WHERE key >= ?1 ORDER BY key"};
    Writer writer_;
    WatchList watches_;
    std::mutex queue_mutex_;
    std::condition_variable queued_;
    std::deque<Waiter*> queue_;
    bool stopping_ = false;
    std::thread thread_;  // last: starts when all else is there
};

std::optional<Entry> SqliteStore::Implementation::get(std::string_view key) {
    std::lock_guard lock(read_mutex_);
    const StatementScope scope(get_);
    if (!get_.bind(1, key).step()) return std::nullopt;
    return Entry{std::string(key), get_.column_text(0), get_.column_int(1)};
}

void SqliteStore::Implementation::scan(std::string_view prefix, const std::function<void(Entry)>& take) {
    std::lock_guard lock(read_mutex_);
    const StatementScope scope(list_);
    list_.bind(1, prefix);
    while (list_.step()) {
        std::string key = list_.column_text(0);
        if (!key.starts_with(prefix)) break;
        take({std::move(key), list_.column_text(1), list_.column_int(2)});
    }
}

Revision SqliteStore::Implementation::commit(const Batch& batch) {
    if (std::this_thread::get_id() == thread_.get_id())
        throw Error(ErrorCode::internal, "the store was changed from within a watch of it");
    Waiter waiter{.batch = batch, .revision = 0, .error = nullptr, .events = {}, .done = false, .wake = {}};
    std::unique_lock lock(queue_mutex_);
    queue_.push_back(&waiter);
    queued_.notify_one();
    waiter.wake.wait(lock, [&] { return waiter.done; });
    if (waiter.error) std::rethrow_exception(waiter.error);
    return waiter.revision;
}

void SqliteStore::Implementation::run() {
    ::pthread_setname_np(::pthread_self(), "store-writer");
    for (auto group = next_group(); !group.empty(); group = next_group()) {
        write(group);
        finish(group);
    }
}

// Empty: the store ends and everything queued was written.
std::vector<Waiter*> SqliteStore::Implementation::next_group() {
    std::unique_lock lock(queue_mutex_);
    queued_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), max_batches_per_transaction));
    std::vector<Waiter*> group(queue_.begin(), queue_.begin() + count);
    queue_.erase(queue_.begin(), queue_.begin() + count);
    return group;
}

// A full disk must not keep anybody from deleting what fills it.
void SqliteStore::Implementation::write_with_reserve(std::span<Waiter*> group) {
    try {
        writer_.write(group);
        if (reserve_) reserve_->restore();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::exhausted || !reserve_ || !reserve_->release()) throw;
        writer_.write(group);
    }
}

void SqliteStore::Implementation::write(std::span<Waiter*> group) {
    try {
        std::unique_lock lock(read_mutex_, std::defer_lock);
        if (!durable_) lock.lock();
        write_with_reserve(group);
    } catch (...) {
        // Whose fault it was is not known: each batch is tried alone, so that one that fails fails nobody
        // else.
        if (group.size() > 1) {
            for (Waiter*& waiter : group) write(std::span(&waiter, 1));
            return;
        }
        group[0]->error = std::current_exception();
        group[0]->events.clear();
    }
}

void SqliteStore::Implementation::finish(std::span<Waiter*> group) {
    for (const Waiter* waiter : group)
        if (!waiter->events.empty()) watches_.notify(waiter->events);
    failpoint("store.told");
    std::lock_guard lock(queue_mutex_);
    for (Waiter* waiter : group) {
        waiter->done = true;
        waiter->wake.notify_one();  // under the lock: afterwards the waiter is gone
    }
}

SqliteStore::SqliteStore(const std::filesystem::path& file)
    : implementation_(std::make_unique<Implementation>(file)) {}
SqliteStore::~SqliteStore() = default;
std::optional<Entry> SqliteStore::get(std::string_view key) {
    return implementation_->get(key);
}
std::vector<Entry> SqliteStore::list(std::string_view prefix) {
    std::vector<Entry> entries;
    scan(prefix, [&](Entry entry) { entries.push_back(std::move(entry)); });
    return entries;
}
void SqliteStore::scan(std::string_view prefix, const std::function<void(Entry)>& take) {
    implementation_->scan(prefix, take);
}
Revision SqliteStore::commit(const Batch& batch) {
    return implementation_->commit(batch);
}
std::unique_ptr<Subscription> SqliteStore::watch(std::string prefix, OnChange on_change) {
    return implementation_->watches().add(std::move(prefix), std::move(on_change));
}

}  // namespace svc

#include "libsvc/store/sqlite/sqlite_store.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/store/sqlite/statement.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/small_disk.h"

namespace svc {
namespace {

namespace fs = std::filesystem;
using test::code_of;

struct SqliteStoreFixture {
    TemporaryDirectory directory{fs::temp_directory_path()};
    fs::path file = directory.path() / "state.db";
};

TEST_CASE_METHOD(SqliteStoreFixture, "a reopened store has its entries and never repeats a revision") {
    Revision last = 0;
    {
        SqliteStore store(file);
        store.commit(Batch().put("kept", "1"));
        store.commit(Batch().put("gone", "1"));
        last = store.commit(Batch().remove("gone"));
    }
    SqliteStore store(file);
    CHECK(store.list("").size() == 1);
    CHECK(store.get("kept")->value == "1");
    CHECK(store.commit(Batch().put("new", "1")) == last + 1);
}

TEST_CASE_METHOD(SqliteStoreFixture,
                 "the log is laid out when a store is opened, and does not grow with commits") {
    SqliteStore store(file);
    const auto size = [&] { return fs::file_size(file.native() + "-wal"); };
    const auto laid_out = size();
    CHECK(laid_out > std::uintmax_t{1000} * 4096);
    for (int i = 0; i < 50; ++i) store.commit(Batch().put("key", std::to_string(i)));
    CHECK(size() == laid_out);
    CHECK(store.get("key")->value == "49");
}

TEST_CASE_METHOD(SqliteStoreFixture, "a second store on the same file is refused while the first lives") {
    {
        const SqliteStore first(file);
        CHECK(code_of([&] { SqliteStore second(file); }) == ErrorCode::busy);
        CHECK(test::message_of([&] { SqliteStore second(file); }) ==
              "state directory is in use by another process");
    }
    CHECK_FALSE(code_of([&] { SqliteStore second(file); }).has_value());
}

TEST_CASE_METHOD(SqliteStoreFixture, "a file of a newer version is refused and left alone") {
    { const SqliteStore store(file); }
    SqliteConnection(file).execute("PRAGMA user_version = 99");
    CHECK(code_of([&] { SqliteStore store(file); }) == ErrorCode::unsupported);
    CHECK(SqliteConnection(file).query_int("PRAGMA user_version") == 99);
}

TEST_CASE_METHOD(SqliteStoreFixture, "what is no database is refused and left alone") {
    const std::string text(8192, 'x');
    write_file_atomically(file, text);
    CHECK(code_of([&] { SqliteStore store(file); }) == ErrorCode::internal);
    CHECK(read_file(file) == text);
}

TEST_CASE_METHOD(SqliteStoreFixture, "only the owner may read the files") {
    SqliteStore store(file);
    store.commit(Batch().put("secret", "1"));
    for (const auto& entry : fs::directory_iterator(directory.path())) {
        struct stat status {};
        REQUIRE(::stat(entry.path().c_str(), &status) == 0);
        INFO(entry.path());
        CHECK((status.st_mode & 0777) == 0600);
    }
}

TEST_CASE_METHOD(SqliteStoreFixture,
                 "a commit from within a watch is refused instead of waiting for itself") {
    SqliteStore store(file);
    std::optional<ErrorCode> code;
    const auto watch =
        store.watch("a", [&](const auto&) { code = code_of([&] { store.commit(Batch().put("b", "1")); }); });
    store.commit(Batch().put("a", "1"));
    CHECK(code == ErrorCode::internal);
}

// Keeps the store's writer in a watch, so that what is committed meanwhile waits to be joined into one
// transaction.
class WriterHold {
  public:
    explicit WriterHold(Store& store)
        : watch_(store.watch("hold",
                             [this](const auto&) {
                                 holding_ = true;
                                 test::eventually("the writer may go on",
                                                  [this] { return released_.load(); });
                             })),
          first_([&store] { store.commit(Batch().put("hold", "")); }) {
        test::eventually("the writer is held", [this] { return holding_.load(); });
    }
    // Commits each batch on a thread of its own and tells how each ended.
    std::vector<std::optional<ErrorCode>> commit_together(Store& store, const std::vector<Batch>& batches) {
        std::vector<std::optional<ErrorCode>> results(batches.size());
        std::vector<std::jthread> threads;
        std::atomic<std::size_t> started = 0;
        for (std::size_t i = 0; i < batches.size(); ++i)
            threads.emplace_back([&, i] {
                ++started;
                results[i] = code_of([&] { store.commit(batches[i]); });
            });
        test::eventually("all threads are about to commit", [&] { return started == batches.size(); });
        released_ = true;
        threads.clear();
        return results;
    }

  private:
    std::atomic<bool> holding_ = false;
    std::atomic<bool> released_ = false;
    std::unique_ptr<Subscription> watch_;
    std::jthread first_;
};

TEST_CASE_METHOD(SqliteStoreFixture, "more waiting batches than fit a transaction are all committed") {
    SqliteStore store(file);
    std::vector<Batch> batches;
    for (int i = 0; i < 300; ++i) batches.push_back(Batch().put("k/" + std::to_string(i), ""));
    for (const auto& result : WriterHold(store).commit_together(store, batches))
        CHECK_FALSE(result.has_value());
    CHECK(store.list("k/").size() == 300);
}

TEST_CASE_METHOD(SqliteStoreFixture, "batches of one transaction see what the ones before them changed") {
    SqliteStore store(file);
    const std::vector<Batch> batches(20, Batch().expect("once", 0).put("once", "1"));
    const auto results = WriterHold(store).commit_together(store, batches);
    CHECK(std::count(results.begin(), results.end(), std::nullopt) == 1);
    CHECK(std::count(results.begin(), results.end(), ErrorCode::conflict) == 19);
}

TEST_CASE("a batch that does not fit the disk fails alone") {
    test::on_small_disk(4U << 20, [](const fs::path& disk) {
        SqliteStore store(disk / "state.db");
        std::vector<Batch> batches;
        for (int i = 0; i < 8; ++i) {
            batches.push_back(Batch().put("small/" + std::to_string(i), "1"));
            batches.emplace_back();
            for (int n = 0; n < 6; ++n)
                batches.back().put("big/" + std::to_string(n), std::string(Batch::max_value_bytes, 'x'));
        }
        const auto results = WriterHold(store).commit_together(store, batches);
        for (std::size_t i = 0; i < results.size(); i += 2) {
            CHECK(results[i] == std::nullopt);
            CHECK(results[i + 1] == ErrorCode::exhausted);
        }
        CHECK(store.list("big/").empty());
        CHECK(store.list("small/").size() == 8);
    });
}

// Acknowledged numbers go to the pipe at descriptor 3 as 8 bytes each. Ends when it is killed or nobody
// reads.
TEST_CASE("child: commits numbers until it is killed", "[.]") {
    const char* const file = std::getenv("SVC_TEST_STORE");
    REQUIRE(file != nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    SqliteStore store(file);
    std::atomic<std::uint64_t> next = store.list("n/").size() + 1'000'000 * (1 + store.list("start/").size());
    store.commit(Batch().put("start/" + std::to_string(next), ""));
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            for (;;) {
                const std::uint64_t number = next++;
                store.commit(
                    Batch().put("n/" + std::to_string(number), "x").put("m/" + std::to_string(number), "x"));
                if (::write(3, &number, sizeof number) != sizeof number) ::_exit(1);
            }
        });
}

std::vector<std::uint64_t> acknowledged_until_killed(const fs::path& file, std::size_t kill_after) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const FileDescriptor read_end(ends[0]);
    FileDescriptor write_end(ends[1]);
    SpawnOptions options;
    options.arguments = {fs::read_symlink("/proc/self/exe"), "child: commits numbers until it is killed"};
    options.environment = {"SVC_TEST_STORE=" + file.string()};
    options.descriptors = {{write_end.get(), 3}};
    Child child(options);
    write_end.reset();
    std::vector<std::uint64_t> numbers;
    std::uint64_t number = 0;
    while (::read(read_end.get(), &number, sizeof number) == sizeof number) {
        numbers.push_back(number);
        if (numbers.size() == kill_after) child.kill(SIGKILL);
    }
    CHECK(child.wait().signal == SIGKILL);
    return numbers;
}

TEST_CASE_METHOD(SqliteStoreFixture,
                 "everything acknowledged is there after kill -9, and no batch is half there") {
    std::mt19937 random(3);
    std::size_t acknowledged = 0;
    for (int round = 0; round < 10; ++round) {
        const auto numbers = acknowledged_until_killed(file, 1 + random() % 40);
        REQUIRE_FALSE(numbers.empty());
        acknowledged += numbers.size();
        SqliteStore store(file);
        for (std::uint64_t number : numbers) REQUIRE(store.get("n/" + std::to_string(number)).has_value());
        REQUIRE(store.list("n/").size() >= acknowledged);
        REQUIRE(store.list("n/").size() == store.list("m/").size());
    }
}

}  // namespace
}  // namespace svc

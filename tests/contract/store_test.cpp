// What every Store keeps to. A new implementation is one more row of `stores` (stores.h).
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/contract/stores.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

namespace svc {
namespace {

using test::code_of;
using test::StoreKind;
using test::stores;

// An empty store of the kind that is the turn's.
struct Fixture {
    explicit Fixture(const StoreKind& kind)
        : directory(std::filesystem::temp_directory_path()),
          store_owner(kind.open(directory.path())),
          store(*store_owner) {}
    TemporaryDirectory directory;
    std::unique_ptr<Store> store_owner;
    Store& store;
};

std::vector<std::string> keys(const std::vector<Entry>& entries) {
    std::vector<std::string> result;
    for (const auto& entry : entries) result.push_back(entry.key);
    return result;
}

void run_threads(int count, const std::function<void(int)>& body) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
}

#define EVERY_STORE(fixture)                                                                  \
    const std::vector<StoreKind> kinds = stores(); /* may skip, which a generator must not */ \
    const StoreKind kind = GENERATE_COPY(from_range(kinds));                                  \
    INFO(kind.name);                                                                          \
    Fixture fixture(kind);                                                                    \
    Store& store = fixture.store

TEST_CASE("a committed value is read back with the revision of its commit") {
    EVERY_STORE(fixture);
    CHECK_FALSE(store.get("a").has_value());
    const Revision first = store.commit(Batch().put("a", "one"));
    const Revision second = store.commit(Batch().put("b", "two"));
    CHECK(first > 0);
    CHECK(second > first);
    const auto entry = store.get("a");
    REQUIRE(entry.has_value());
    CHECK(entry->key == "a");
    CHECK(entry->value == "one");
    CHECK(entry->revision == first);
}

TEST_CASE("any bytes up to 1 MiB are a value") {
    EVERY_STORE(fixture);
    const std::string binary("\0\xff\n\"", 4);
    const std::string large(Batch::max_value_bytes, 'x');
    store.commit(Batch().put("empty", "").put("binary", binary).put("large", large));
    CHECK(store.get("empty")->value.empty());
    CHECK(store.get("binary")->value == binary);
    CHECK(store.get("large")->value == large);
    CHECK(store.list("").size() == 3);
}

TEST_CASE("a list has the keys of its prefix in byte order") {
    EVERY_STORE(fixture);
    store.commit(
        Batch().put("b/2", "").put("b/10", "").put("b", "").put("b0", "").put("a/1", "").put("b/ä", ""));
    CHECK(keys(store.list("b/")) == std::vector<std::string>{"b/10", "b/2", "b/ä"});
    CHECK(keys(store.list("")) == std::vector<std::string>{"a/1", "b", "b/10", "b/2", "b/ä", "b0"});
    CHECK(store.list("c").empty());
}

TEST_CASE("a failed expectation leaves everything as it was") {
    EVERY_STORE(fixture);
    const Revision revision = store.commit(Batch().put("a", "1"));
    store.commit(Batch().put("b", "1"));
    Batch batch;
    batch.expect("a", revision).put("a", "2").expect("b", revision).put("c", "2").remove("b");
    CHECK(code_of([&] { store.commit(batch); }) == ErrorCode::conflict);
    CHECK(store.get("a")->value == "1");
    CHECK(store.get("b").has_value());
    CHECK_FALSE(store.get("c").has_value());
}

TEST_CASE("an expectation of 0 wants the key to be absent") {
    EVERY_STORE(fixture);
    const Batch create = Batch().expect("a", 0).put("a", "1");
    store.commit(create);
    CHECK(code_of([&] { store.commit(create); }) == ErrorCode::conflict);
    store.commit(Batch().remove("a"));
    CHECK(code_of([&] { store.commit(create); }) == std::nullopt);
}

TEST_CASE("the revision of a removed key does not come back") {
    EVERY_STORE(fixture);
    const Revision before = store.commit(Batch().put("a", "1"));
    store.commit(Batch().remove("a"));
    CHECK(code_of([&] { store.commit(Batch().expect("a", before).put("a", "2")); }) == ErrorCode::conflict);
    CHECK(store.commit(Batch().put("a", "1")) > before + 1);
}

TEST_CASE("changes of one batch are applied in their order") {
    EVERY_STORE(fixture);
    store.commit(Batch().put("a", "1").put("a", "2").put("b", "1").remove("b").remove("absent"));
    CHECK(store.get("a")->value == "2");
    CHECK_FALSE(store.get("b").has_value());
}

TEST_CASE("a batch without changes checks and answers the newest revision") {
    EVERY_STORE(fixture);
    const Revision newest = store.commit(Batch().put("a", "1"));
    CHECK(store.commit(Batch().expect("a", newest)) == newest);
    CHECK(code_of([&] { store.commit(Batch().expect("a", newest + 1)); }) == ErrorCode::conflict);
    CHECK(store.commit(Batch().put("b", "1")) == newest + 1);
}

TEST_CASE("a watch tells what a commit changed below its prefix, before the commit returns") {
    EVERY_STORE(fixture);
    std::vector<WatchEvent> seen;
    std::mutex mutex;
    const auto watch = store.watch("w/", [&](const std::vector<WatchEvent>& events) {
        std::lock_guard lock(mutex);
        seen.insert(seen.end(), events.begin(), events.end());
    });
    const Revision first = store.commit(Batch().put("w/a", "1").put("other", "1").put("w/b", "2"));
    const Revision second = store.commit(Batch().remove("w/a").remove("w/absent"));
    store.commit(Batch().put("other", "2"));
    std::lock_guard lock(mutex);
    REQUIRE(seen.size() == 3);
    CHECK((seen[0].key == "w/a" && seen[0].value == "1" && seen[0].revision == first));
    CHECK((seen[1].key == "w/b" && seen[1].value == "2" && seen[1].revision == first));
    CHECK((seen[2].key == "w/a" && !seen[2].value && seen[2].revision == second));
}

TEST_CASE("a watch may end itself, and is not called again") {
    EVERY_STORE(fixture);
    std::atomic<int> calls = 0;
    std::unique_ptr<Subscription> watch;
    watch = store.watch("", [&](const auto&) {
        ++calls;
        watch.reset();
    });
    store.commit(Batch().put("a", "1"));
    store.commit(Batch().put("a", "2"));
    CHECK(calls == 1);
}

TEST_CASE("ending a watch waits for its call") {
    EVERY_STORE(fixture);
    std::atomic<bool> stop = false;
    std::jthread writer([&] {
        while (!stop) store.commit(Batch().put("a", "1"));
    });
    for (int i = 0; i < 50; ++i) {
        auto called = std::make_unique<std::atomic<int>>(0);
        auto watch = store.watch("a", [&called](const auto&) { ++*called; });
        test::eventually("the watch is called", [&] { return *called > 0; });
        watch.reset();
        called.reset();  // a call after the end would touch freed memory
    }
    stop = true;
    SUCCEED();
}

TEST_CASE("a watch that throws disturbs neither the commit nor the other watches") {
    EVERY_STORE(fixture);
    std::atomic<int> calls = 0;
    const auto bad = store.watch("", [](const auto&) { throw Error(ErrorCode::internal, "for a test"); });
    const auto good = store.watch("", [&](const auto&) { ++calls; });
    CHECK(store.commit(Batch().put("a", "1")) > 0);
    CHECK(calls == 1);
}

TEST_CASE("a watch may outlive the store") {
    EVERY_STORE(fixture);
    const auto watch = store.watch("", [](const auto&) {});
    store.commit(Batch().put("a", "1"));
    fixture.store_owner.reset();
    SUCCEED();
}

TEST_CASE("concurrent compare-and-set loses no change") {
    EVERY_STORE(fixture);
    store.commit(Batch().put("counter", "0"));
    constexpr int threads = 4;
    constexpr int rounds = 25;
    run_threads(threads, [&](int) {
        for (int done = 0; done < rounds;) {
            const auto entry = store.get("counter");
            Batch batch;
            batch.expect("counter", entry->revision)
                .put("counter", std::to_string(std::stoi(entry->value) + 1));
            if (!code_of([&] { store.commit(batch); })) ++done;
        }
    });
    CHECK(store.get("counter")->value == std::to_string(threads * rounds));
}

TEST_CASE("of concurrent creations one wins") {
    EVERY_STORE(fixture);
    std::atomic<int> won = 0;
    std::atomic<int> lost = 0;
    run_threads(8, [&](int i) {
        const auto code = code_of([&] { store.commit(Batch().expect("a", 0).put("a", std::to_string(i))); });
        ++(code ? lost : won);
    });
    CHECK(won == 1);
    CHECK(lost == 7);
}

TEST_CASE("a watch sees concurrent commits one by one, in the order of their revisions") {
    EVERY_STORE(fixture);
    std::vector<Revision> seen;
    const auto watch = store.watch("k/", [&](const std::vector<WatchEvent>& events) {
        for (const auto& event : events) seen.push_back(event.revision);
    });
    run_threads(8, [&](int thread) {
        for (int i = 0; i < 10; ++i)
            store.commit(Batch().put("k/" + std::to_string(thread) + "/" + std::to_string(i), ""));
    });
    REQUIRE(seen.size() == 80);
    for (std::size_t i = 1; i < seen.size(); ++i) REQUIRE(seen[i] == seen[i - 1] + 1);
}

}  // namespace
}  // namespace svc

// One manager at a time works on the records in etcd.
#include <catch2/catch.hpp>

#include <atomic>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

namespace svc::test {
namespace {

EtcdOptions exclusive_options() {
    EtcdOptions options = etcd_options(shared_etcd().endpoints());
    options.exclusive = true;
    return options;
}

std::unique_ptr<EtcdStore> leading(const EtcdOptions& options) {
    auto store = std::make_unique<EtcdStore>(options, system_clock());
    store->lead();
    return store;
}

bool has_holder(const EtcdOptions& options) {
    return !shared_etcd().control({"get", "--keys-only", options.root + "manager"}).empty();
}

void end_all_leases() {
    const auto lines = split(shared_etcd().control({"lease", "list"}), '\n');
    for (const std::string& line : lines)
        if (line.find("found") == std::string::npos && !line.empty())
            shared_etcd().control({"lease", "revoke", line});
}

TEST_CASE("a second manager is refused while the first one lives, and told where that is") {
    const EtcdOptions options = exclusive_options();
    auto first = leading(options);
    try {
        leading(another_manager(options));
        FAIL("two managers work on the same records");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::busy);
        CHECK(std::string(e.what()) ==
              "the records in etcd are in use by another svcd, on host '" + options.host + "'");
    }
    first->commit(Batch().put("a", "1"));
    first.reset();
    CHECK(leading(another_manager(options))->get("a")->value == "1");
}

TEST_CASE("the next process of the same manager goes on at once, and the earlier one is fenced off") {
    EtcdOptions options = exclusive_options();
    std::atomic<int> lost = 0;
    options.on_lost = [&] { ++lost; };
    const auto earlier = leading(options);
    earlier->commit(Batch().put("a", "1"));
    EtcdOptions next = options;
    next.on_lost = nullptr;
    const auto later = leading(next);
    CHECK(later->commit(Batch().put("a", "2")) > 0);
    for (int i = 0; i < 2; ++i)
        CHECK(code_of([&] { earlier->commit(Batch().put("a", "3")); }) == ErrorCode::unavailable);
    CHECK(code_of([&] { earlier->commit(Batch().expect("a", 0)); }) == ErrorCode::unavailable);
    CHECK(lost == 1);
    CHECK(later->get("a")->value == "2");
}

TEST_CASE("a manager whose lease has ended takes it again while nobody else came") {
    EtcdOptions options = exclusive_options();
    options.lease = std::chrono::seconds(1);
    const auto store = leading(options);
    end_all_leases();
    eventually("the lease is taken again", [&] { return has_holder(options); });
    CHECK(store->commit(Batch().put("a", "1")) > 0);
}

TEST_CASE("a manager whose lease has ended changes nothing once another one has come") {
    EtcdOptions options = exclusive_options();
    options.lease = std::chrono::hours(1);  // renewed too late to notice
    const auto earlier = leading(options);
    end_all_leases();
    const auto later = leading(another_manager(options));
    CHECK(code_of([&] { earlier->commit(Batch().put("a", "1")); }) == ErrorCode::unavailable);
    CHECK(later->list("").empty());
}

TEST_CASE("a manager finds out that another one has come when it renews its lease") {
    EtcdOptions options = exclusive_options();
    std::atomic<bool> lost = false;
    options.on_lost = [&] { lost = true; };
    options.lease = std::chrono::seconds(1);
    const auto earlier = leading(options);
    options.on_lost = nullptr;
    const auto later = leading(options);
    end_all_leases();
    eventually("the earlier one ends", [&] { return lost.load(); });
    eventually("the later one has it again", [&] { return has_holder(options); });
    CHECK(lost);
}

}  // namespace
}  // namespace svc::test

// Several managers on the records of one etcd: who they are, which one leads, what the others may.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "tests/contract/etcd_managers.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/tcp_relay.h"

namespace svc::test {
namespace {

struct TwoManagers {
    EtcdOptions options = cluster_options();
    Member first{options};
    Member second{another_manager(options)};
};

TEST_CASE_METHOD(TwoManagers, "managers know each other, and that one has gone") {
    first.join("127.0.0.1:1");
    std::atomic<int> changes = 0;
    const auto watching = first.membership().on_change([&] { ++changes; });
    second.join("127.0.0.1:2");
    eventually("the second is known", [&] { return first.membership().managers().size() == 2; });
    CHECK(first.membership().managers() ==
          std::vector{first.membership().self(), second.membership().self()});
    CHECK(second.membership().managers() == first.membership().managers());
    CHECK(second.membership().self().address == "127.0.0.1:2");
    CHECK(changes > 0);
    second.store.reset();
    eventually("it has gone", [&] { return first.membership().managers().size() == 1; });
}

TEST_CASE_METHOD(TwoManagers, "a manager whose session has ended is there again with a new one") {
    EtcdOptions brief = another_manager(options, "c");
    brief.lease = std::chrono::seconds(1);
    Member third(brief);
    first.join();
    third.join("127.0.0.1:3");
    eventually("it is known", [&] { return first.membership().managers().size() == 2; });
    std::atomic<int> changes = 0;
    const auto watching = first.membership().on_change([&] { ++changes; });
    end_lease_of(options.root + "managers/" + brief.manager);
    eventually("it has gone and is there again",
               [&] { return changes >= 2 && first.membership().managers().size() == 2; });
}

TEST_CASE_METHOD(TwoManagers, "one manager leads, and the other one only reads and watches") {
    first.lead();
    CHECK(first.term == 1);
    second.campaign();
    eventually("the leader is known", [&] {
        return second.membership().leader() == Leader{options.manager, 1};
    });
    const auto before = second.store->counts().transactions;
    try {
        second.store->commit(Batch().put("a", "1"));
        FAIL("a manager that does not lead has changed something");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::unavailable);
        CHECK(std::string(e.what()) == "this manager does not lead");
    }
    CHECK(code_of([&] { second.store->commit({}); }) == ErrorCode::unavailable);
    CHECK(second.store->counts().transactions == before);
    const Revision revision = first.store->commit(Batch().put("a", "1"));
    second.store->await(revision, long_wait);
    CHECK(second.store->revision() >= revision);
    CHECK(second.store->get("a")->value == "1");
}

TEST_CASE_METHOD(TwoManagers, "a follower that has caught up was told of all that was committed before") {
    first.lead();
    second.join();
    Guarded<std::vector<std::string>> told;
    const auto watch = second.store->watch("", [&](const auto& events) {
        told.with([&](auto& all) {
            for (const WatchEvent& event : events) all.push_back(event.key);
        });
    });
    for (int i = 0; i < 20; ++i) {
        const std::string key = "k" + std::to_string(i);
        first.store->commit(Batch().put(key, ""));
        second.store->catch_up();
        CHECK(told.with([](const auto& all) { return all.back(); }) == key);
    }
}

TEST_CASE_METHOD(TwoManagers, "a leader that ends is followed at once, in the next term") {
    first.lead();
    second.campaign();
    const Revision last = first.store->commit(Batch().put("a", "1"));
    first.store.reset();
    CHECK(eventually([&] { return second.term == 2; }, std::chrono::seconds(4)));  // before a lease could end
    CHECK(first.lost == 0);
    CHECK(second.store->commit(Batch().expect("a", last).put("a", "2")) > last);
    eventually("it is known", [&] {
        return second.membership().leader() == Leader{second.options.manager, 2};
    });
    CHECK(second.store->counts().leader_changes == 2);
    CHECK(second.store->counts().term == 2);
}

TEST_CASE("a leader's term is higher than any that its machine has heard of") {
    EtcdOptions options = cluster_options();
    options.known_term = [] { return std::uint64_t{7}; };  // etcd was restored from an older backup
    Member restored(options);
    restored.lead();
    CHECK(restored.term == 8);
}

TEST_CASE("a leader whose lease has ended is replaced, told once, and fenced off") {
    EtcdOptions options = cluster_options();
    Member second(another_manager(options));
    options.lease = std::chrono::hours(1);  // renewed too late to notice
    Member first(options);
    first.lead();
    second.campaign();
    eventually("they know each other", [&] { return second.membership().managers().size() == 2; });
    end_lease_of(options.root + "manager");
    eventually("the other one leads", [&] { return second.term == 2; });
    eventually("the earlier one is told", [&] { return first.lost == 1; });
    CHECK_FALSE(first.store->leads());
    for (int i = 0; i < 2; ++i)
        CHECK(code_of([&] { first.store->commit(Batch().put("a", "1")); }) == ErrorCode::unavailable);
    CHECK(first.lost == 1);
    CHECK(second.store->list("").empty());
}

TEST_CASE("a leader that is cut off from etcd stops in time, and another one leads") {
    EtcdOptions options = cluster_options();
    TcpRelay relay(Target::parse(options.endpoints[0]));
    EtcdOptions relayed = options;
    relayed.endpoints = {relay.endpoint()};
    relayed.attempt = std::chrono::milliseconds(200);
    relayed.patience = std::chrono::milliseconds(500);
    relayed.lease = std::chrono::seconds(2);
    Member first(relayed);
    Member second(another_manager(options));
    first.lead();
    second.campaign();
    relay.cut();
    bool overlapped = false;
    CHECK(eventually(
        [&] {
            const bool second_leads = second.term != 0;
            overlapped = overlapped || (second_leads && first.store->leads());
            return second_leads;
        },
        std::chrono::seconds(10)));
    CHECK_FALSE(overlapped);
    try {
        first.store->commit(Batch().put("a", "1"));
        FAIL("it has committed");
    } catch (const Error& e) {
        CHECK(std::string(e.what()) ==
              "etcd does not renew this manager's lease: it cannot tell whether it still leads");
    }
    CHECK(first.store->counts().renewals_failed > 0);
    CHECK(first.lost == 0);
    relay.mend();
    eventually("it is told", [&] { return first.lost == 1; });
    CHECK(code_of([&] { first.store->commit(Batch().put("a", "1")); }) == ErrorCode::unavailable);
    CHECK(second.store->commit(Batch().expect("a", 0).put("a", "2")) > 0);
}

TEST_CASE("a leader leads on when etcd is back before anybody else has led") {
    EtcdOptions options = cluster_options();
    TcpRelay relay(Target::parse(options.endpoints[0]));
    options.endpoints = {relay.endpoint()};
    options.attempt = std::chrono::milliseconds(200);
    options.patience = std::chrono::milliseconds(500);
    options.lease = std::chrono::seconds(1);
    Member only(options);
    only.lead();
    relay.cut();
    eventually("it has stopped", [&] { return !only.store->leads(); });
    relay.mend();
    eventually("it leads again", [&] { return only.store->leads(); });
    CHECK(only.term == 1);
    CHECK(only.lost == 0);
    eventually("it commits again",
               [&] { return !code_of([&] { only.store->commit(Batch().put("a", "1")); }); });
}

TEST_CASE_METHOD(TwoManagers, "of many managers that begin together one leads, and then the next one") {
    std::vector<std::unique_ptr<Member>> all;
    for (const char* const mark : {"b", "c", "d", "e"})
        all.push_back(std::make_unique<Member>(another_manager(options, mark)));
    for (const auto& each : all) each->campaign();
    const auto leading = [&] {
        return std::ranges::count_if(all, [](const auto& each) { return each->term != 0; });
    };
    for (std::uint64_t term = 1; !all.empty(); ++term) {
        eventually("one leads", [&] { return leading() == 1; });
        const auto leader = std::ranges::find_if(all, [](const auto& each) { return each->term != 0; });
        CHECK((*leader)->term == term);
        CHECK((*leader)->store->commit(Batch().put("a", "1")) > 0);
        all.erase(leader);
    }
}

TEST_CASE_METHOD(TwoManagers, "a manager that was started anew leads again without waiting for its lease") {
    first.lead();
    Member next(options);
    next.campaign();
    eventually("the next process leads", [&] { return next.term == 2; });
    eventually("the earlier one is told", [&] { return first.lost == 1; });
    CHECK(next.store->commit(Batch().put("a", "1")) > 0);
}

TEST_CASE_METHOD(TwoManagers,
                 "what members and leader are is known again after etcd has dropped its history") {
    TcpRelay relay(Target::parse(options.endpoints[0]));
    EtcdOptions relayed = another_manager(options, "r");
    relayed.endpoints = {relay.endpoint()};
    Member reader(relayed);
    reader.open();
    first.lead();
    eventually("the leader is known", [&] { return reader.membership().leader().has_value(); });
    relay.cut();
    second.campaign();
    first.store.reset();
    eventually("the next one leads", [&] { return second.term == 2; });
    const Revision last = second.store->commit(Batch().put("a", "1"));
    shared_etcd().control({"compaction", std::to_string(last)});
    relay.mend();
    eventually("the next leader is known", [&] {
        return reader.membership().leader() == Leader{second.options.manager, 2};
    });
    CHECK_FALSE(find_manager(reader.membership(), first.options.manager));
    CHECK(find_manager(reader.membership(), second.options.host));
}

TEST_CASE_METHOD(TwoManagers, "of two identities that are made at once one counts, for both") {
    first.open();
    second.open();
    CHECK_FALSE(first.store->identity());
    std::atomic<int> made = 0;
    {
        std::jthread one([&] { made += first.store->set_identity("one", 0) ? 1 : 0; });
        std::jthread two([&] { made += second.store->set_identity("two", 0) ? 1 : 0; });
    }
    CHECK(made == 1);
    CHECK(first.store->identity()->value == second.store->identity()->value);
    CHECK(first.store->list("").empty());
}

}  // namespace
}  // namespace svc::test

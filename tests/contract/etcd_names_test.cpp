// Names of managers: those that live have different ones, since a node has the name of its manager.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/contract/etcd_managers.h"
#include "tests/support/error_code.h"
#include "tests/support/tcp_relay.h"

namespace svc::test {
namespace {

// Managers of two machines, whose host has one name.
struct Namesakes {
    static EtcdOptions named() {
        EtcdOptions options = cluster_options();
        options.host = "m1";
        options.name_setting = "manager_name";
        return options;
    }
    EtcdOptions other_machine() const {
        EtcdOptions other = another_manager(options);
        other.host = options.host;
        return other;
    }
    std::string refusal() const {
        Member clone(other_machine());
        return message_of([&] { clone.join("10.0.0.2:8445"); });
    }
    EtcdOptions options = named();
    Member first{options};
};

TEST_CASE_METHOD(Namesakes, "a manager is refused whose name a living one has, and told where that is") {
    first.join("10.0.0.1:8445");
    Member clone(other_machine());
    CHECK(code_of([&] { clone.join("10.0.0.2:8445"); }) == ErrorCode::conflict);
    clone.store.reset();
    CHECK(refusal() == "another manager named m1 lives at 10.0.0.1:8445: give this one another manager_name");
    CHECK(first.membership().managers().size() == 1);
    first.store.reset();
    CHECK(refusal().empty());
}

TEST_CASE_METHOD(Namesakes, "so is one whose name an older version has, which tells its record alone") {
    shared_etcd().control(
        {"put", options.root + "managers/old", R"({"id": "old", "name": "m1", "address": "10.0.0.3:8445"})"});
    CHECK(refusal().starts_with("another manager named m1 lives at 10.0.0.3:8445"));
}

TEST_CASE_METHOD(Namesakes, "the next process of a manager has its name at once, and keeps it") {
    auto earlier = std::make_unique<Member>(options);
    earlier->join("10.0.0.1:8445");
    first.join("10.0.0.1:8446");
    earlier.reset();  // its lease ends, as that of a process that was killed does later
    CHECK(refusal().starts_with("another manager named m1 lives at 10.0.0.1:8446"));
}

TEST_CASE("names of members that are no nodes may be the same") {
    EtcdOptions options = Namesakes::named();
    options.name_setting.clear();
    EtcdOptions other = another_manager(options);
    other.host = options.host;
    Member first(options), second(other);
    first.join();
    CHECK_NOTHROW(second.join());
}

TEST_CASE("a manager whose name was taken while it was away is back when the name is free") {
    EtcdOptions options = Namesakes::named();
    TcpRelay relay(Target::parse(options.endpoints[0]));
    EtcdOptions brief = another_manager(options, "c");
    brief.host = options.host;
    brief.endpoints = {relay.endpoint()};
    brief.attempt = std::chrono::milliseconds(200);
    brief.patience = std::chrono::milliseconds(500);
    brief.lease = std::chrono::seconds(1);
    Member away(brief), clone(options);
    const auto knows_it = [&](Member& member) { return find_manager(member.membership(), brief.manager); };
    away.join();
    clone.open();
    eventually("it is known", [&] { return knows_it(clone).has_value(); });
    relay.cut();
    eventually("its session has ended", [&] { return !knows_it(clone); });
    clone.store->join("10.0.0.1:8445");
    away.store->campaign();
    relay.mend();
    Member watcher(another_manager(options, "w"));
    watcher.join();
    eventually("it knows the other one",
               [&] { return find_manager(away.membership(), options.manager).has_value(); });
    CHECK_FALSE(knows_it(watcher));
    CHECK(away.term == 0);
    clone.store.reset();
    eventually("it is there again", [&] { return knows_it(watcher).has_value(); });
    eventually("it leads", [&] { return away.term != 0; });
}

}  // namespace
}  // namespace svc::test

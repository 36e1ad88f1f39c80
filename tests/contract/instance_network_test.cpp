// The parts of the instances' network that the managers of a cluster have, in a real etcd.
#include <catch2/catch.hpp>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/cluster/instance_network.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_membership.h"

namespace svc::test {
namespace {

struct Managers {
    EtcdOptions options = etcd_options(shared_etcd().endpoints());
    etcd::Cluster cluster{options, system_clock()};
    NetworkPlan plan{"198.18.0.0/20", 22, ""};  // four parts

    std::string take(const std::string& manager) { return take(manager, plan); }
    std::string take(const std::string& manager, const NetworkPlan& wanted) {
        return InstanceNetwork(cluster, options.root, manager, "node-" + manager)
            .take(wanted, "192.0.2.1", "svcnobr0");
    }
};

NetworkCalls no_calls() {
    NetworkCalls calls;
    calls.tell = [](const std::vector<PeerNetwork>&) {};
    calls.is_node = [](const std::string&) { return true; };
    calls.lost = [] {};
    calls.patience = std::chrono::milliseconds(0);
    return calls;
}

TEST_CASE("each manager gets the lowest free part, and the same one again") {
    Managers managers;
    CHECK(managers.take("a") == "198.18.0.1/22");
    CHECK(managers.take("b") == "198.18.4.1/22");
    CHECK(managers.take("a") == "198.18.0.1/22");
    InstanceNetwork network(managers.cluster, managers.options.root, "a", "node-a");
    REQUIRE(network.others().size() == 1);
    CHECK(network.others()[0].subnet == "198.18.4.1/22");
    CHECK(network.others()[0].address == "192.0.2.1");
    network.release("b");
    CHECK(network.others().empty());
    CHECK(managers.take("c") == "198.18.4.1/22");
}

TEST_CASE("managers that take parts at once get different ones") {
    Managers managers;
    std::mutex mutex;
    std::multiset<std::string> taken;
    {
        std::vector<std::jthread> threads;
        for (const char* manager : {"a", "b", "c", "d", "a", "b", "c", "d"})
            threads.emplace_back([&, manager] {
                const std::string part = managers.take(manager);
                const std::lock_guard lock(mutex);
                taken.insert(part);
            });
    }
    for (const char* part : {"198.18.0.1/22", "198.18.4.1/22", "198.18.8.1/22", "198.18.12.1/22"})
        CHECK(taken.count(part) == 2);  // the two processes of one manager got the same one
    CHECK(code_of([&] { managers.take("e"); }) == ErrorCode::exhausted);
}

TEST_CASE("a fixed part wins, and is refused where it overlaps another one") {
    Managers managers;
    CHECK(managers.take("a", {"198.18.0.0/20", 22, "198.18.4.1/24"}) == "198.18.4.1/24");
    CHECK(managers.take("b") == "198.18.0.1/22");
    CHECK(managers.take("c") == "198.18.8.1/22");
    CHECK(code_of([&] {
              managers.take("d", {"198.18.0.0/20", 22, "198.18.4.129/25"});
          }) == ErrorCode::conflict);
    CHECK(managers.take("b", {"198.18.0.0/20", 22, "198.19.0.1/24"}) == "198.19.0.1/24");
}

TEST_CASE("a part is none that the machine has another network in") {
    CHECK(choose_part({"198.18.0.0/20", 22, ""}, "", {}, {lxc::parse_subnet("198.18.3.9/24")}) ==
          "198.18.4.1/22");
    CHECK(code_of([] { choose_part({"198.18.0.0/20", 16, ""}, "", {}, {}); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a manager is told when another one comes") {
    Managers managers;
    managers.take("a");
    FakeMembership membership({"a", "m1", "192.0.2.1:8445", "1", 1});
    std::mutex mutex;
    std::vector<PeerNetwork> told;
    int calls = 0;
    InstanceNetwork network(managers.cluster, managers.options.root, "a", "node-a");
    NetworkCalls wanted = no_calls();
    wanted.tell = [&](const std::vector<PeerNetwork>& others) {
        const std::lock_guard lock(mutex);
        told = others;
        ++calls;
    };
    network.follow(membership, wanted);
    const auto with = [&](auto what) {
        return eventually([&] {
            const std::lock_guard lock(mutex);
            return what();
        });
    };
    REQUIRE(with([&] { return calls > 0; }));
    managers.take("b");
    membership.join({"b", "m2", "192.0.2.2:8445", "1", 1});
    CHECK(with([&] { return told.size() == 1 && told[0].subnet == "198.18.4.1/22"; }));
    network.release("b");
    membership.leave("b");
    CHECK(with([&] { return told.empty(); }));
}

TEST_CASE("the leader gives back the part of a manager that does not live and is no node any more") {
    Managers managers;
    for (const char* manager : {"a", "node", "living", "removed"}) managers.take(manager);
    FakeMembership membership({"a", "node-a", "192.0.2.1:8445", "1", 1});
    membership.join({"living", "node-living", "192.0.2.3:8445", "1", 1});
    std::atomic<int> asked = 0;
    NetworkCalls calls = no_calls();
    calls.tell = [&](const std::vector<PeerNetwork>&) { ++asked; };
    calls.is_node = [&](const std::string& name) { return name == "node-node"; };
    InstanceNetwork network(managers.cluster, managers.options.root, "a", "node-a");
    network.follow(membership, calls);
    REQUIRE(eventually([&] { return asked > 0; }));
    CHECK(network.others().size() == 3);  // it does not lead
    membership.lead(Leader{"a", 1});
    CHECK(eventually([&] { return network.others().size() == 2; }));
    CHECK(managers.take("next") == "198.18.12.1/22");
}

struct Returning : Managers {
    FakeMembership membership{Manager{"a", "node-a", "192.0.2.1:8445", "1", 1}};
    std::atomic<bool> lost = false;
    InstanceNetwork network{cluster, options.root, "a", "node-a"};
    Returning() {
        network.take(plan, "192.0.2.1", "svcnobr0");
        network.release("a");
    }
    void follow() {
        NetworkCalls calls = no_calls();
        calls.lost = [this] { lost = true; };
        network.follow(membership, calls);
    }
};

TEST_CASE_METHOD(Returning, "a manager whose part was given back takes it again where it is free") {
    follow();
    CHECK(eventually(
        [&] { return InstanceNetwork(cluster, options.root, "b", "node-b").others().size() == 1; }));
    CHECK(take("b") == "198.18.4.1/22");
    CHECK_FALSE(lost);
}

TEST_CASE_METHOD(Returning, "a manager whose part is another one's by now is told so, and gets a new one") {
    CHECK(take("b") == "198.18.0.1/22");
    follow();
    CHECK(eventually([&] { return lost.load(); }));
    CHECK(take("a") == "198.18.4.1/22");
}

}  // namespace
}  // namespace svc::test

// Terms after etcd was restored from a backup: higher than what the machines of the cluster have seen.
#include <catch2/catch.hpp>

#include "tests/contract/etcd_managers.h"

namespace svc::test {
namespace {

struct Restored {
    Restored() {
        EtcdOptions older = another_manager(options);
        older.known_term = [this] { return known.load(); };
        older.lease = std::chrono::seconds(1);
        follower = std::make_unique<Member>(older);
        follower->join("127.0.0.1:2");
    }
    std::atomic<std::uint64_t> known{7};
    EtcdOptions options = cluster_options();
    std::unique_ptr<Member> follower;
};

TEST_CASE_METHOD(Restored, "a leader's term is higher than any that a living manager has heard of") {
    Member leader(options);
    leader.lead();
    CHECK(leader.term == 8);
}

TEST_CASE_METHOD(Restored, "what a manager hears of later is known to the others with a renewal") {
    known = 1000;
    eventually("it is known", [&] {
        Member leader(options);
        leader.lead();
        return leader.term > 1000;
    });
}

}  // namespace
}  // namespace svc::test

// What a store in etcd counts, and what managers tell of themselves.
#include <catch2/catch.hpp>

#include <atomic>

#include "libsvc/base/error.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/eventually.h"

namespace svc::test {
namespace {

TEST_CASE("requests, transactions and revisions of etcd are counted") {
    EtcdOptions options = etcd_options(shared_etcd().endpoints());
    std::atomic<int> answers{0};
    options.on_answer = [&](Duration took) {
        if (took > Duration::zero()) ++answers;
    };
    EtcdStore store(options, system_clock());
    const int opened = answers;
    CHECK(opened > 0);
    const EtcdCounts before = store.counts();
    CHECK(before.transactions == 0);
    const Revision revision = store.commit(Batch().put("a", "1"));
    const EtcdCounts after = store.counts();
    CHECK(after.transactions == 1);
    CHECK(after.commits == 1);
    CHECK(after.newest >= revision);
    CHECK(after.told >= revision);
    CHECK(after.requests_failed == 0);
    CHECK(answers > opened);
    Batch stale;
    CHECK_THROWS_AS(store.commit(stale.expect("a", revision - 1).put("a", "2")), Error);
    CHECK(store.counts().conflicts == 1);
}

TEST_CASE("a store that etcd does not answer counts that, and its lease grows old") {
    skip_unless_etcd();
    EtcdCluster etcd(1);
    EtcdOptions options = etcd_options(etcd.endpoints());
    options.exclusive = true;
    EtcdStore store(options, system_clock());
    CHECK(store.counts().lease_age == Duration::zero());
    store.join("127.0.0.1:1");
    CHECK(store.counts().lease_age > Duration::zero());
    etcd.kill(0);
    eventually("requests have failed", [&] { return store.counts().requests_failed > 3; });
    const Duration age = store.counts().lease_age;
    eventually("the lease is older than any that is renewed",
               [&] { return store.counts().lease_age > age + options.lease / 2; });
    etcd.start(0);
    eventually("it is renewed", [&] { return store.counts().lease_age < age + options.lease / 2; });
}

TEST_CASE("managers tell each other where their API is") {
    EtcdOptions options = etcd_options(shared_etcd().endpoints());
    options.exclusive = true;
    EtcdStore first(options, system_clock()), second(another_manager(options), system_clock());
    first.join("127.0.0.1:1", {"https://10.0.0.1:8444", "https://10.1.0.1:8444"});
    second.join("127.0.0.1:2");
    eventually("both are known", [&] { return second.membership().managers().size() == 2; });
    const auto seen = find_manager(second.membership(), options.manager);
    REQUIRE(seen);
    CHECK(seen->api == first.membership().self().api);
    CHECK(seen->api.size() == 2);
    CHECK(second.membership().self().api.empty());
}

}  // namespace
}  // namespace svc::test

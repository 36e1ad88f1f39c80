// What a leader says of a change that was stored, when it heard of that late or not at all.
#include <catch2/catch.hpp>

#include <latch>

#include "libsvc/store/store_unavailable.h"
#include "tests/contract/etcd_managers.h"
#include "tests/support/error_code.h"
#include "tests/support/tcp_relay.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {
namespace {

// A member that is asked when the first one's answer was lost: another manager becomes the owner then.
struct LateMember : TestServer {
    explicit LateMember(std::string owner) : owner_(std::move(owner)) {
        service.add("/v3/kv/txn", [this](Request&) {
            shared_etcd().control({"put", owner_, R"({"id": "another", "term": 9})"});
            return json_response(503, R"({"error":"etcdserver: leader changed","code":14})");
        });
        with_tcp = true;
        start();
    }
    const std::string owner_;
};

TEST_CASE("a change that was stored before another manager took over is told as stored") {
    EtcdOptions options = cluster_options();
    TcpRelay relay(Target::parse(options.endpoints[0]));
    const LateMember late(options.root + "owner");
    options.endpoints = {relay.endpoint(), late.tcp_target().describe()};
    options.lease = std::chrono::hours(1);  // nothing else is asked meanwhile
    Member leader(options);
    leader.lead();
    relay.lose_answers_to("POST /v3/kv/txn", 1000);
    CHECK(leader.store->commit(Batch().put("a", "1")) > 0);
    CHECK(relay.lost() == 1);
    CHECK(leader.store->get("a")->value == "1");
    CHECK(code_of([&] { leader.store->commit(Batch().put("a", "2")); }) == ErrorCode::unavailable);
}

TEST_CASE("a change that was stored and is not told by the watch is not told as refused") {
    EtcdOptions options = cluster_options();
    options.patience = std::chrono::milliseconds(100);
    Member leader(options);
    leader.lead();
    std::latch end(1);
    const auto watch = leader.store->watch("", [&](const auto&) { end.wait(); });
    CHECK(message_of([&] { leader.store->commit(Batch().put("a", "1")); }) ==
          "etcd does not tell what was changed; it is not known whether the change was stored");
    end.count_down();
}

}  // namespace
}  // namespace svc::test

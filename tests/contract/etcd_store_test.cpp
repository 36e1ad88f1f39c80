// What a store in etcd does besides the contract: other writers, answers that are lost, history that is
// dropped, watches that fall silent, limits of etcd.
#include <catch2/catch.hpp>

#include <map>

#include "libsvc/base/error.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/tcp_relay.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {
namespace {

// Two managers on the same records; the first one reaches etcd through a relay.
struct TwoWriters {
    EtcdCluster& etcd = shared_etcd();
    TcpRelay relay{Target::parse(etcd.endpoints()[0])};
    EtcdOptions options = relayed();
    EtcdStore first{options, system_clock()};
    EtcdStore second{direct(), system_clock()};

    EtcdOptions relayed() const {
        EtcdOptions relayed = etcd_options({relay.endpoint()});
        relayed.attempt = std::chrono::milliseconds(500);
        return relayed;
    }
    EtcdOptions direct() const {
        EtcdOptions direct = options;
        direct.endpoints = etcd.endpoints();
        direct.manager += "b";
        return direct;
    }
};

// What a watch of everything has told, in its order and as a state.
class Watched {
  public:
    explicit Watched(Store& store) : watch_(store.watch("", [this](const auto& events) { take(events); })) {}
    std::map<std::string, std::string> state() const {
        std::lock_guard lock(mutex_);
        return state_;
    }
    std::vector<std::string> told() const {
        std::lock_guard lock(mutex_);
        return told_;
    }

  private:
    void take(const std::vector<WatchEvent>& events) {
        std::lock_guard lock(mutex_);
        for (const WatchEvent& event : events) {
            told_.push_back((event.value ? "put " : "remove ") + event.key);
            if (event.value)
                state_.insert_or_assign(event.key, *event.value);
            else
                state_.erase(event.key);
        }
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::string> state_;
    std::vector<std::string> told_;
    std::unique_ptr<Subscription> watch_;
};

std::string error_of(const std::function<void()>& call) {
    try {
        call();
        return "";
    } catch (const Error& e) {
        return e.what();
    }
}

TEST_CASE_METHOD(TwoWriters, "a watch tells what another manager commits") {
    const Watched watched(first);
    second.commit(Batch().put("a", "1").put("b", "1"));
    second.commit(Batch().remove("a"));
    eventually("both commits are told", [&] { return watched.told().size() == 3; });
    CHECK(watched.told() == std::vector<std::string>{"put a", "put b", "remove a"});
    CHECK(first.get("b")->value == "1");
}

TEST_CASE_METHOD(TwoWriters, "a conflict is thrown after the watch has told of the other manager's change") {
    const Watched watched(first);
    const Revision before = first.commit(Batch().put("a", "1"));
    second.commit(Batch().put("a", "2"));
    CHECK(code_of([&] { first.commit(Batch().expect("a", before).put("a", "3")); }) == ErrorCode::conflict);
    CHECK(watched.state().at("a") == "2");
}

TEST_CASE_METHOD(TwoWriters, "a batch whose answer is lost is committed once") {
    const Watched watched(first);
    first.commit(Batch().put("other", "1"));
    relay.lose_answers_to("POST /v3/kv/txn", 2);
    const Revision revision = first.commit(Batch().expect("a", 0).put("a", "1"));
    CHECK(relay.lost() == 1);
    CHECK(first.get("a")->revision == revision);
    CHECK(watched.told() == std::vector<std::string>{"put other", "put a"});
}

TEST_CASE_METHOD(TwoWriters, "a refused batch whose answer is lost is a conflict") {
    first.commit(Batch().put("a", "1"));
    relay.lose_answers_to("POST /v3/kv/txn", 3);
    CHECK(code_of([&] { first.commit(Batch().expect("a", 0).put("a", "2")); }) == ErrorCode::conflict);
    CHECK(relay.lost() == 1);
    CHECK(first.get("a")->value == "1");
}

TEST_CASE_METHOD(TwoWriters, "a watch that breaks off goes on where it was") {
    const Watched watched(first);
    first.commit(Batch().put("a", "1"));
    relay.cut();
    second.commit(Batch().put("b", "1"));
    second.commit(Batch().remove("a"));
    relay.mend();
    eventually("all is told", [&] { return watched.told().size() == 3; });
    CHECK(watched.told() == std::vector<std::string>{"put a", "put b", "remove a"});
}

TEST_CASE_METHOD(TwoWriters, "a watch whose history etcd has dropped tells the difference") {
    const Watched watched(first);
    first.commit(Batch().put("same", "1").put("changed", "1").put("gone", "1"));
    relay.cut();
    second.commit(Batch().put("brief", "1").put("changed", "2"));
    second.commit(Batch().remove("gone").remove("brief"));
    const Revision last = second.commit(Batch().put("new", "1"));
    etcd.control({"compaction", std::to_string(last)});
    relay.mend();
    eventually("the difference is told", [&] { return watched.told().size() == 6; });
    CHECK(watched.state() ==
          std::map<std::string, std::string>{{"same", "1"}, {"changed", "2"}, {"new", "1"}});
    CHECK(watched.told()[5] == "remove gone");
    second.commit(Batch().put("later", "1"));
    eventually("the watch goes on", [&] { return watched.state().contains("later"); });
}

TEST_CASE_METHOD(TwoWriters, "a watch that has fallen silent is noticed and begun again") {
    const Watched watched(first);
    first.commit(Batch().put("a", "1"));
    relay.freeze();
    second.commit(Batch().remove("a"));  // a removal leaves no revision behind
    eventually("the removal is told", [&] { return watched.state().empty(); });
    CHECK(watched.told() == std::vector<std::string>{"put a", "remove a"});
}

TEST_CASE_METHOD(TwoWriters, "a list of many pages has every key once, in order") {
    constexpr int count = 3000;
    const std::string large(std::size_t{64} << 10, 'x');
    std::vector<std::string> expected;
    Batch batch;
    for (int i = 0; i < count; ++i) {
        expected.push_back("p/" + std::to_string(1000 + i));
        batch.put(expected.back(), i / 100 == 5 && i % 10 == 0 ? large : "");
        if (batch.changes().size() == 100) first.commit(std::exchange(batch, {}));
    }
    first.commit(Batch().put("q", ""));
    std::vector<std::string> found;
    first.scan("p/", [&](const Entry& entry) { found.push_back(entry.key); });
    CHECK(found == expected);
}

TEST_CASE_METHOD(TwoWriters, "a batch of more operations than etcd takes is refused, naming a record") {
    Batch batch;
    for (int i = 0; i < 200; ++i) batch.put("instances/" + std::to_string(i), "");
    CHECK(code_of([&] { first.commit(batch); }) == ErrorCode::unsupported);
    CHECK(error_of([&] {
              first.commit(batch);
          }).starts_with("a change of 200 records, 'instances/0' among them, is too large for etcd"));
    CHECK(first.list("").empty());
    CHECK(first.commit(Batch().put("a", "1")) > 0);
}

TEST_CASE_METHOD(TwoWriters, "a batch of more bytes than etcd takes is refused, naming a record") {
    const std::string large(Batch::max_value_bytes, 'x');
    const Batch batch = Batch().put("a", large).put("b", large);
    CHECK(code_of([&] { first.commit(batch); }) == ErrorCode::unsupported);
    CHECK(first.list("").empty());
}

// Refuses every transaction as etcd does when its disk is full.
struct FullMember : TestServer {
    FullMember() {
        service.add("/v3/kv/txn", [](Request&) {
            return json_response(500, R"({"error":"etcdserver: mvcc: database space exceeded","code":8})");
        });
        with_tcp = true;
        start();
    }
};

TEST_CASE_METHOD(TwoWriters, "a refusal after a lost answer does not say that nothing was stored") {
    const FullMember full;
    EtcdOptions both = another_manager(relayed());
    both.endpoints.push_back(full.tcp_target().describe());
    EtcdStore store(both, system_clock());
    relay.lose_answers_to("POST /v3/kv/txn", 2);
    const Batch batch = Batch().put("a", "1");
    std::optional<Error> error;
    try {
        store.commit(batch);
    } catch (const Error& e) {
        error = e;
    }
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::unavailable);
    CHECK(std::string(error->what()).ends_with("it is not known whether the change was stored"));
    EtcdOptions there = both;
    there.endpoints = etcd.endpoints();
    CHECK(EtcdStore(there, system_clock()).get("a")->value == "1");
}

TEST_CASE("a store does not change itself from within its watch") {
    EtcdStore store(etcd_options(shared_etcd().endpoints()), system_clock());
    std::optional<ErrorCode> code;
    const auto watch =
        store.watch("", [&](const auto&) { code = code_of([&] { store.commit(Batch().put("b", "1")); }); });
    store.commit(Batch().put("a", "1"));
    CHECK(code == ErrorCode::internal);
}

}  // namespace
}  // namespace svc::test

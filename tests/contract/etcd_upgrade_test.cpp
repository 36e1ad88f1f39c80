// Managers of different versions on the same records: who leads, and who is refused.
#include <catch2/catch.hpp>

#include <atomic>

#include "libsvc/base/error.h"
#include "libsvc/store/etcd/record_import.h"
#include "libsvc/store/etcd/records_schema.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"

namespace svc::test {
namespace {

constexpr int older = 1, newer = 2;

// Managers of one cluster, each of a version of its own.
struct Versions {
    Versions() {
        options.exclusive = true;
        options.host = "m1";
        options.version = "0.9";
    }
    EtcdOptions of(const std::string& mark, int schema) const {
        EtcdOptions another = another_manager(options, mark);
        another.schema = schema;
        return another;
    }
    std::string raised() const {
        return shared_etcd().control({"get", "--print-value-only", options.root + "cluster/schema"});
    }
    void raise(const std::string& value) const {
        shared_etcd().control({"put", options.root + "cluster/schema", value});
    }
    EtcdOptions options = etcd_options(shared_etcd().endpoints());
};

struct VersionedMember {
    explicit VersionedMember(EtcdOptions given) : options(std::move(given)) {
        options.on_leading = [this](std::uint64_t now) { term = now; };
        store = std::make_unique<EtcdStore>(options, system_clock());
    }
    void join() { store->join("127.0.0.1:1"); }
    void campaign() {
        join();
        store->campaign();
    }
    void lead() {
        campaign();
        eventually("it leads", [&] { return term != 0; });
    }
    std::atomic<std::uint64_t> term{0};
    EtcdOptions options;
    std::unique_ptr<EtcdStore> store;
};

std::string refusal(const std::function<void()>& call) {
    try {
        call();
        return "";
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::unsupported);
        return e.what();
    }
}

TEST_CASE_METHOD(Versions, "who leads raises the schema of the records to the newest it knows") {
    {
        VersionedMember first(of("a", older));
        first.lead();
        CHECK(raised() == "{\"schema\":1}\n");
    }
    VersionedMember next(of("b", newer));
    next.lead();
    CHECK(raised() == "{\"schema\":2}\n");
}

TEST_CASE_METHOD(Versions, "a newer manager does not lead while an older one lives") {
    auto first = std::make_unique<VersionedMember>(of("a", older));
    first->lead();
    VersionedMember second(of("b", newer));
    second.campaign();
    auto third = std::make_unique<VersionedMember>(of("c", older));
    third->join();
    eventually("the second knows the third",
               [&] { return second.store->membership().managers().size() == 3; });
    first.reset();
    third->store->campaign();  // long after the second
    eventually("the third leads", [&] { return third->term == 2; });
    CHECK(raised() == "{\"schema\":1}\n");
    third.reset();
    eventually("the second leads", [&] { return second.term == 3; });
    CHECK(raised() == "{\"schema\":2}\n");
}

TEST_CASE_METHOD(Versions,
                 "the only manager does not lead while one of an older version lives, and says so") {
    VersionedMember member(of("b", older));
    member.join();
    EtcdStore store(of("a", newer), system_clock());
    CHECK(
        refusal([&] { store.lead(); }) ==
        "'m1b' lives, of version '0.9', which does not know schema 2 of records, but 1: it must be upgraded");
}

TEST_CASE_METHOD(Versions, "a manager is refused whose version does not know the records") {
    VersionedMember first(of("a", newer));
    first.lead();
    const std::string reason =
        "the records in etcd are of schema 2, and this version knows 1: it must be upgraded";
    CHECK(refusal([&] { const VersionedMember second(of("b", older)); }) == reason);
    const VersionedMember same(of("c", newer));
}

TEST_CASE_METHOD(Versions, "so is one that was about to join when the schema was raised") {
    VersionedMember slow(of("b", older));
    raise("{\"schema\":2}");
    CHECK(refusal([&] { slow.join(); }) != "");
}

TEST_CASE_METHOD(Versions, "a schema that cannot be read is newer than any") {
    raise("?");
    CHECK(refusal([&] { const VersionedMember member(of("a", newer)); }) != "");
}

TEST_CASE_METHOD(Versions, "an older manager that was away when the schema was raised never leads again") {
    EtcdOptions away = of("b", older);
    away.lease = std::chrono::hours(1);  // does not notice that it has ended
    VersionedMember old(away);
    old.join();
    shared_etcd().control({"del", options.root + "managers/" + away.manager});
    auto first = std::make_unique<VersionedMember>(of("a", newer));
    first->lead();
    old.store->campaign();
    eventually("it follows", [&] { return old.store->membership().leader().has_value(); });
    first.reset();
    VersionedMember second(of("c", newer));
    second.lead();
    CHECK(second.term == 2);
    CHECK(old.term == 0);
    CHECK(code_of([&] { old.store->commit(Batch().put("a", "1")); }) == ErrorCode::unavailable);
}

TEST_CASE_METHOD(Versions, "records that are imported say how new a manager has to be") {
    SystemClock clock;
    etcd::Cluster cluster(options, clock);
    etcd::RecordImport import(cluster, options.root, "a backup");
    import.put({{ "a", "{}" }});
    import.finish(newer);
    CHECK(refusal([&] { const VersionedMember member(of("a", older)); }) != "");
    CHECK(VersionedMember(of("b", newer)).store->get("a")->value == "{}");
}

TEST_CASE_METHOD(Versions, "a manager that came unseen keeps another one from raising the schema") {
    SystemClock clock;
    etcd::Cluster cluster(options, clock);
    const etcd::Keys keys(options.root);
    const auto attempt = [&](Revision seen) {
        etcd::RecordsSchema schema;
        schema.seen = seen;
        etcd::Transaction transaction;
        etcd::stage_raise(transaction, keys, schema, newer);
        return etcd::read_transaction(cluster.call(etcd::transaction_path, transaction.request())).succeeded;
    };
    const Revision before = etcd::read_range(cluster, keys.newest_batch()).revision;
    shared_etcd().control({"put", keys.managers() + "x", "{}"});
    CHECK_FALSE(attempt(before));
    CHECK(raised().empty());
    CHECK(attempt(before + 1));
    CHECK(raised() == "{\"schema\":2}\n");
    CHECK_FALSE(attempt(before + 1));  // somebody has raised it
}

}  // namespace
}  // namespace svc::test

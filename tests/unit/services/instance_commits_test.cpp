// How often operations on instances ask the store: with etcd each commit is a transaction.
#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct CommitFixture : InstanceFixture {
    template <class Work>
    std::size_t commits_of(Work work) {
        const std::size_t before = store.commits();
        work();
        return store.commits() - before;
    }
    std::shared_ptr<const Operation> remove(const std::string& id) {
        return wait(instances().remove(id, true, PathWord::containers, "test"));
    }
    std::shared_ptr<const Operation> set_status(const std::string& id, const std::string& status) {
        return wait(instances().set_desired_status(id, status, false, PathWord::containers, "test"));
    }
};

}  // namespace

TEST_CASE_METHOD(CommitFixture, "a launch is three commits, a deletion two") {
    std::string id;
    CHECK(commits_of([&] { id = launched(); }) == 3);
    CHECK(commits_of([&] { remove(id); }) == 2);
}

TEST_CASE_METHOD(CommitFixture, "a launch that does not start is two commits") {
    InstanceCreate create = request();
    create.no_start = true;
    CHECK(commits_of([&] { launched(create); }) == 2);
}

TEST_CASE_METHOD(CommitFixture, "a stop is two commits, a start three") {
    const std::string id = launched();
    CHECK(commits_of([&] { set_status(id, "stopped"); }) == 2);
    CHECK(commits_of([&] { set_status(id, "running"); }) == 3);
}

TEST_CASE_METHOD(CommitFixture,
                 "what is reserved is stored with the acceptance, before a container is made") {
    Gate gate;
    runtime.before("create", [&] { gate.pass(); });
    const Started started = launch();
    gate.await();
    const auto accepted = records().get(id_of(started));
    CHECK(accepted->status == InstanceStatus::prepared);
    CHECK(accepted->node == "node0");
    CHECK_FALSE(accepted->address.empty());
    gate.open();
    CHECK(wait(started)->err.empty());
    CHECK(records().get(id_of(started))->address == accepted->address);
}

// The runtime's call does not return before the commit that it does not wait for.
TEST_CASE_METHOD(CommitFixture, "the middle one of a launch's commits is made while the container starts") {
    const std::size_t before = store.commits();
    runtime.before("start",
                   [&] { eventually("the start is stored", [&] { return store.commits() == before + 2; }); });
    CHECK(wait(launch())->err.empty());
}

TEST_CASE_METHOD(CommitFixture, "what a launch has reserved is free again when it is not accepted") {
    const std::string address = records().get(launched())->address;
    store.fail_next(ErrorCode::exhausted);
    CHECK(code_of([&] { launch(); }) == ErrorCode::exhausted);
    const auto next = records().get(launched());
    CHECK(next->address == "10.0.0.3");
    CHECK(address == "10.0.0.2");
}

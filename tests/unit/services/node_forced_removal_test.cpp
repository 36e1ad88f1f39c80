// A node that is removed by force takes its instances with it: all or none, within a limit, and once the
// service has accepted it, also after a restart.
#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct OldNodeFixture : InstanceFixture {
    std::string id;
    Gate removal;  // of the container

    OldNodeFixture() {
        launch_on_old_node();
        id = launched();
        runtime.before("remove", [this] { removal.pass(); });
    }
    ~OldNodeFixture() {
        removal.open();
        end_life();
    }
    Started remove_old() {
        NodeRemoval forced;
        forced.force = true;
        return nodes().remove("old", forced, "test");
    }
};

}  // namespace

TEST_CASE_METHOD(OldNodeFixture,
                 "a forced removal of a node fails when a deletion takes too long, which goes on") {
    const Started started = remove_old();
    removal.await();
    CHECK(advance_until_final(started->id.str())->err ==
          "container " + id + " cannot be deleted: it takes too long");
    CHECK(nodes().get("old")->status == NodeStatus::online);
    CHECK(exists(id));
    removal.open();
    settle(id);
    CHECK_FALSE(exists(id));
    CHECK(wait(remove_old())->err.empty());
    CHECK(code_of([&] { nodes().get("old"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(OldNodeFixture, "a forced removal of a node waits for a deletion that goes on already") {
    const Started deletion = instances().remove(id, true, PathWord::containers, "test");
    removal.await();
    const Started started = remove_old();
    removal.open();
    CHECK(wait(started)->err.empty());
    CHECK(wait(deletion)->err.empty());
    CHECK(code_of([&] { nodes().get("old"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(OldNodeFixture,
                 "a forced removal of a node that a stop of the service cut off is finished after it") {
    const Started started = remove_old();
    removal.await();
    engine().stop(Duration(0));
    removal.open();
    restart();
    CHECK(wait(started)->err.empty());
    CHECK_FALSE(exists(id));
    CHECK(code_of([&] { nodes().get("old"); }) == ErrorCode::not_found);
}

#include <catch2/catch.hpp>

#include "libsvc/base/id.h"
#include "tests/cli/daemon_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct SnapshotCommandFixture : DaemonFixture {
    SnapshotCommandFixture() {
        add_image("base");
        id = ask({"launch", "base", "--name", "phone"});
        ask({"stop", "phone"});
    }
    std::string id;
};

}  // namespace

TEST_CASE_METHOD(SnapshotCommandFixture, "a snapshot is created, listed, restored, launched and deleted") {
    const std::string snapshot = ask({"snapshot", "create", "phone", "--name", "before"});
    CHECK(is_object_id(snapshot));
    const Json all = Json::parse(ask({"snapshot", "list", "phone", "-o", "json"}));
    REQUIRE(all.as_array().size() == 1);
    CHECK(all.as_array()[0].at("id") == Json(snapshot));
    CHECK(all.as_array()[0].at("name") == Json("before"));
    CHECK(all.as_array()[0].at("status") == Json("ready"));
    CHECK_THAT(ask({"snapshot", "ls", "phone"}), Catch::Contains("| before "));

    ask({"snapshot", "restore", "phone", "before", "-y"});
    const std::string second = ask({"snapshot", "launch", "phone", "before", "--name", "second"});
    CHECK(is_object_id(second));
    CHECK(Json::parse(ask({"show", "second", "-o", "json"})).at("status") == Json("running"));

    ask({"snapshot", "delete", "phone", "before", "-y"});
    CHECK(ask({"snapshot", "list", "phone", "-o", "json"}) == "[]");
}

TEST_CASE_METHOD(SnapshotCommandFixture, "what a snapshot is asked for in vain is told") {
    CHECK_THAT(run({"snapshot", "restore", "phone", "nothing", "-y"}).err,
               Catch::Contains("snapshot not found"));
    ask({"start", "phone"});
    CHECK_THAT(run({"snapshot", "create", "phone"}).err,
               Catch::Contains("only the disk of a stopped instance can be copied"));
}

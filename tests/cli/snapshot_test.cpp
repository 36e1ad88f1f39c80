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

TEST_CASE_METHOD(SnapshotCommandFixture, "a snapshot is exported into a file that is an image") {
    ask({"snapshot", "create", "phone", "--name", "before"});
    const std::string file = (daemon.path() / "phone.tar.gz").string();
    CHECK(ask({"snapshot", "export", "phone", "before", file}) == file);
    ask({"image", "add", "phone-disk", file});
    CHECK(is_object_id(ask({"launch", "phone-disk"})));
    CHECK_THAT(run({"snapshot", "export", "phone", "nothing", file}).err,
               Catch::Contains("snapshot not found"));
}

TEST_CASE_METHOD(SnapshotCommandFixture, "a stopped instance becomes an image, and no snapshot is left") {
    const std::string image = ask({"publish", "phone", "--name", "golden", "--default"});
    const Json shown = Json::parse(ask({"image", "show", "golden", "-o", "json"}));
    CHECK(shown.at("id") == Json(image));
    CHECK(shown.at("status") == Json("active"));
    CHECK(shown.at("default").as_bool());
    CHECK(ask({"snapshot", "list", "phone", "-o", "json"}) == "[]");
    CHECK(Json::parse(ask({"show", ask({"launch", "golden"}), "-o", "json"})).at("status") ==
          Json("running"));
}

TEST_CASE_METHOD(SnapshotCommandFixture, "an instance is not published in vain") {
    CHECK(run({"publish", "phone"}).status == 2);
    const CliRun taken = run({"publish", "phone", "--name", "base"});
    CHECK(taken.status == 1);
    CHECK(taken.err == "Error: image 'base' already exists\n");
    CHECK(run({"publish", "phone", "--name", "no name"}).status == 2);
    CHECK(ask({"snapshot", "list", "phone", "-o", "json"}) == "[]");
    ask({"start", "phone"});
    CHECK(run({"publish", "phone", "--name", "golden"}).err ==
          "Error: instance 'phone': only the disk of a stopped instance can be copied\n");
    CHECK(Json::parse(ask({"image", "list", "-o", "json"})).as_array().size() == 1);
}

TEST_CASE_METHOD(SnapshotCommandFixture, "what a snapshot is asked for in vain is told") {
    CHECK_THAT(run({"snapshot", "restore", "phone", "nothing", "-y"}).err,
               Catch::Contains("snapshot not found"));
    ask({"start", "phone"});
    CHECK_THAT(run({"snapshot", "create", "phone"}).err,
               Catch::Contains("only the disk of a stopped instance can be copied"));
}

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/id.h"
#include "libsvc/base/strings.h"
#include "tests/cli/daemon_fixture.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;

namespace {

struct CopyFixture : DaemonFixture {
    CopyFixture() {
        add_image("base");
        ask({"launch", "base", "--name", "phone", "-s", "+web:tcp:80", "--tags", "golden", "--platform",
             "swrast", "-i", "a4.3"});
        ask({"stop", "phone"});
    }
    Json shown(const std::string& id) { return Json::parse(ask({"show", id, "-o", "json"})); }
    Json record(const std::string& id) { return daemon.api().get("/1.0/instances/" + id).metadata(); }
    std::size_t instances() { return Json::parse(ask({"ls", "-o", "json"})).as_array().size(); }
    std::string snapshots() { return ask({"snapshot", "list", "phone", "-o", "json"}); }
    std::vector<std::string> copied(std::vector<std::string> flags) {
        flags.insert(flags.begin(), {"copy", "phone"});
        return split(ask(flags), '\n');
    }
    void restart(double fail_share, Duration start_delay) {
        daemon.restart([&](server::Options& options) {
            options.simulated.fail_share = fail_share;
            options.simulated.start_delay = start_delay;
        });
    }
};

}  // namespace

TEST_CASE_METHOD(CopyFixture, "an instance is copied, and no snapshot is left") {
    const auto ids = copied({"--name", "web", "--count", "3", "--tags", "a,b"});
    REQUIRE(ids.size() == 3);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(is_object_id(ids[i]));
        const Json copy = record(ids[i]);
        CHECK(copy.at("name") == Json("web-" + std::to_string(i + 1)));
        CHECK(copy.at("status") == Json("running"));
        CHECK(copy.at("tags") == Json::array({"a", "b"}));
        CHECK(copy.at("config").at("platform") == Json("swrast"));
        CHECK(copy.at("resources") == record("phone").at("resources"));
        CHECK(copy.at("services").as_array().at(0).at("name") == Json("web"));
        CHECK(copy.at("services").as_array().at(0).at("node_port") !=
              record("phone").at("services").as_array().at(0).at("node_port"));
    }
    CHECK(snapshots() == "[]");
    CHECK(record("phone").at("status") == Json("stopped"));
}

TEST_CASE_METHOD(CopyFixture, "one copy has the name that was given, and no tags of the original") {
    const auto ids = copied({"--name", "web"});
    REQUIRE(ids.size() == 1);
    CHECK(record("web").at("id") == Json(ids[0]));
    CHECK(record("web").at("tags") == Json::array());
}

TEST_CASE_METHOD(CopyFixture, "copies that are not waited for are launched all the same") {
    const auto operations = copied({"--count", "2", "--no-wait"});
    REQUIRE(operations.size() == 2);
    CHECK(snapshots() == "[]");
    for (const auto& id : operations) {
        CHECK(is_uuid(id));
        ask({"wait", id});
    }
    CHECK(instances() == 3);
}

TEST_CASE_METHOD(CopyFixture, "a running instance is not copied") {
    ask({"start", "phone"});
    const CliRun refused = run({"copy", "phone"});
    CHECK(refused.status == 1);
    CHECK(refused.err == "Error: instance 'phone': only the disk of a stopped instance can be copied\n");
    CHECK(snapshots() == "[]");
    CHECK(run({"copy", "nothing"}).status == 1);
    for (const char* count : {"0", "1001", "many"})
        CHECK(run({"copy", "phone", "--count", count}).status == 2);
    CHECK(instances() == 1);
}

TEST_CASE_METHOD(CopyFixture, "copies before one that is refused exist and are told") {
    ask({"launch", "base", "--name", "web-3"});
    const CliRun partly = run({"copy", "phone", "--name", "web", "--count", "5"});
    CHECK(partly.status == 1);
    CHECK_THAT(partly.err, Catch::StartsWith("Error: copy 3 of 5: "));
    CHECK(partly.out ==
          record("web-1").at("id").as_string() + "\n" + record("web-2").at("id").as_string() + "\n");
    CHECK(instances() == 4);
    CHECK(snapshots() == "[]");
}

TEST_CASE_METHOD(CopyFixture, "what becomes of a copy that does not start is told") {
    restart(1, Duration::zero());
    const CliRun failed = run({"copy", "phone", "--name", "web"});
    CHECK(failed.status == 1);
    CHECK(failed.out.empty());
    CHECK_THAT(failed.err, Catch::Contains("Error: " + record("web").at("id").as_string() + ": "));
    CHECK_THAT(failed.err, Catch::Contains("; the instance exists, its status is error\n"));
    CHECK(snapshots() == "[]");
}

TEST_CASE_METHOD(CopyFixture, "interrupted copies are cancelled, and no snapshot is left") {
    restart(0, std::chrono::hours(1));
    CliRun copies;
    std::thread copying([&copies, settings = settings] {
        copies = run_cli({"copy", "phone", "--count", "3"}, settings);
    });
    eventually("a copy starts", [&] { return instances() > 1; });
    ::kill(::getpid(), SIGINT);
    copying.join();
    CHECK(copies.status == 130);
    CHECK(copies.out.empty());
    CHECK_THAT(copies.err, Catch::Contains("; the instance is gone\n"));
    CHECK(instances() == 1);
    CHECK(snapshots() == "[]");
}

#include <catch2/catch.hpp>

#include "libsvc/base/json.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct SnapshotSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string image = api.add_image("base", image_package());

    std::string launched() { return api.launch("base", "instances"); }
    std::string stopped() {
        const std::string id = launched();
        api.succeed(api.patch("/1.0/instances/" + id, Json::object({{"desired_status", "stopped"}})));
        return id;
    }
    static std::string snapshots_of(const std::string& id) { return "/1.0/instances/" + id + "/snapshots"; }
    std::string taken(const std::string& id, const std::string& name = "") {
        const Json body = Json::object({{"name", name}});
        return resource_id(api.succeed(api.post(snapshots_of(id), body)), "snapshots");
    }
};

}  // namespace

TEST_CASE_METHOD(SnapshotSetup, "a snapshot of a stopped instance is restored and launched from") {
    const std::string id = stopped();
    const std::string snapshot = taken(id, "before");
    const std::string url = snapshots_of(id) + "/" + snapshot;
    CHECK(api.get(snapshots_of(id)).metadata() == Json::array({url}));
    const Json record = api.get(url).metadata();
    CHECK(api.get(snapshots_of(id) + "?recursion=1").metadata() == Json::array({record}));
    CHECK(api.get(snapshots_of(id) + "/before").metadata() == record);
    CHECK(record.at("status") == Json("ready"));
    CHECK(record.at("instance_id") == Json(id));
    CHECK(record.at("image_id") == Json(image));
    CHECK(record.at("size").as_int() > 0);

    CHECK(api.succeed(api.post(url + "/restore", Json::object())).at("description") ==
          Json("Restoring snapshot"));
    const Json launch = Json::object({{"snapshot", snapshot}, {"name", "second"}});
    const std::string second = resource_id(api.succeed(api.post("/1.0/instances", launch)), "instances");
    const Json made = api.get("/1.0/instances/" + second).metadata();
    CHECK(made.at("status") == Json("running"));
    CHECK(made.at("image_id") == Json(image));

    api.succeed(api.remove(url));
    CHECK(api.get(url).error() == "snapshot not found");
    CHECK(api.get("/1.0/instances/second").metadata().at("status") == Json("running"));
}

TEST_CASE_METHOD(SnapshotSetup, "snapshots that cannot be taken are refused") {
    const std::string running = launched();
    const ApiReply of_running = api.post(snapshots_of(running), Json::object());
    CHECK(of_running.status == 400);
    CHECK(of_running.error() == "only the disk of a stopped instance can be copied");
    CHECK(api.post(snapshots_of("nothing"), Json::object()).status == 404);
    CHECK(api.get(snapshots_of("nothing")).status == 404);

    const std::string id = stopped();
    const std::string snapshot = taken(id, "before");
    CHECK(api.post(snapshots_of(id), Json::object({{"name", "before"}})).error() ==
          "snapshot 'before' already exists");
    CHECK(api.post(snapshots_of(id), Json::object({{"name", "no_name"}})).status == 400);
    CHECK(api.get(snapshots_of(running) + "/" + snapshot).status == 404);  // of another instance
    CHECK(api.post(snapshots_of(id) + "/nothing/restore", Json::object()).status == 404);
    CHECK(api.remove(snapshots_of(id) + "/nothing").status == 404);

    api.succeed(api.patch("/1.0/instances/" + id, Json::object({{"desired_status", "running"}})));
    const ApiReply restored = api.post(snapshots_of(id) + "/before/restore", Json::object());
    CHECK(restored.status == 400);
    CHECK(restored.error() == "only a stopped or failed instance can be restored");
}

TEST_CASE_METHOD(SnapshotSetup, "an exported snapshot can be added as an image") {
    const std::string id = stopped();
    const std::string snapshot = taken(id, "before");
    const std::string url = snapshots_of(id) + "/before/export";
    const ApiReply archive = api.get(url);
    CHECK(archive.status == 200);
    CHECK(archive.headers.get("Content-Type") == "application/octet-stream");
    CHECK(archive.headers.get("Content-Disposition") ==
          "attachment; filename=\"svc-" + id + "-" + snapshot + ".tar.gz\"");
    CHECK(api.get(url).text == archive.text);
    const std::string copy = api.add_image("copy", archive.text);
    CHECK(api.get("/1.0/images/copy").metadata().at("architecture") ==
          api.get("/1.0/images/base").metadata().at("architecture"));
    const std::string launched = api.launch("copy", "instances");
    CHECK(api.get("/1.0/instances/" + launched).metadata().at("image_id") == Json(copy));
    CHECK(api.get(snapshots_of(id) + "/nothing/export").status == 404);
    CHECK(api.get(snapshots_of("nothing") + "/before/export").status == 404);
}

TEST_CASE_METHOD(SnapshotSetup, "a launch names one source alone") {
    const std::string snapshot = taken(stopped());
    Json body = Json::object({{"snapshot", snapshot}, {"image_id", "base"}});
    CHECK(api.post("/1.0/instances", body).status == 400);
    body = Json::object({{"snapshot", snapshot}, {"instance_type", "a2.3"}});
    CHECK(api.post("/1.0/instances", body).status == 400);
    CHECK(api.post("/1.0/instances", Json::object({{"snapshot", "nothing"}})).error() ==
          "snapshot not found");
}

}  // namespace svc::test

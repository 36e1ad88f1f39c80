#include <catch2/catch.hpp>

#include "tests/support/eventually.h"
#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

TEST_CASE("the machine is one node that says what runs it") {
    TestDaemon daemon;
    const ApiReply shown = daemon.api().get("/1.0/nodes/node0");
    check_golden("api/golden/node.json", normalise(shown.json()));
    CHECK(shown.metadata().at("runtime") == Json("simulated"));
    CHECK(shown.headers.get("ETag").size() == 66);
    CHECK(daemon.api().get("/1.0/nodes").metadata() == Json::array({"/1.0/nodes/node0"}));
    CHECK(daemon.api().get("/1.0/nodes?recursion=1").metadata() == Json::array({shown.metadata()}));
    CHECK(daemon.api().get("/1.0/nodes/node1").error() == "node not found");
}

TEST_CASE("a node takes new values") {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    api.succeed(api.patch("/1.0/nodes/node0", Json::object({{"cpus", 8},
                                                            {"cpu_allocation_rate", 1.5},
                                                            {"memory", "16GB"},
                                                            {"gpu_slots", 3},
                                                            {"tags", "zone=a,fast"},
                                                            {"unscheduable", true}})));
    const Json node = api.get("/1.0/nodes/node0").metadata();
    CHECK(node.at("cpus") == Json(8));
    CHECK(node.at("cpu_allocation_rate") == Json(1.5));
    CHECK(node.at("memory") == Json("16GB"));
    CHECK(node.at("gpu_slots") == Json(3));
    CHECK(node.at("tags") == Json::array({"zone=a", "fast"}));
    CHECK(node.at("unscheduable") == Json(true));
    CHECK(node.at("unschedulable") == Json(true));
    for (const char* body :
         {R"({"cpus":-1})", R"({"cpus":"x"})", R"({"memory":"3XB"})", R"({"tags":3})", "["})
        CHECK(api.call(Method::patch, "/1.0/nodes/node0", body).status == 400);
    CHECK(api.patch("/1.0/nodes/node1", Json::object()).status == 404);
}

TEST_CASE("a stale etag of a node is refused") {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    Headers headers;
    headers.set("If-Match", api.get("/1.0/nodes/node0").headers.get("ETag"));
    api.succeed(api.call(Method::patch, "/1.0/nodes/node0", R"({"cpus":8})", headers));
    CHECK(api.call(Method::patch, "/1.0/nodes/node0", R"({"cpus":9})", headers).status == 412);
    CHECK(api.get("/1.0/nodes/node0").metadata().at("cpus") == Json(8));
}

TEST_CASE("this runtime has one node") {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    const auto add = [&](const Json& body) { return api.post("/1.0/nodes", body).status; };
    CHECK(add(Json::object({{"name", "node1"}, {"address", "10.0.0.12"}})) == 400);
    CHECK(add(Json::object({{"name", "node0"}, {"address", "10.0.0.12"}})) == 409);
    CHECK(add(Json::object({{"name", "node1"}})) == 400);
}

TEST_CASE("a node is removed and added again") {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    api.add_image("base", image_package());
    const std::string id = api.launch("base"), instance = "/1.0/containers/" + id;
    CHECK(api.remove("/1.0/nodes/node0").error() == "node node0 is in use by instances " + id);
    api.succeed(api.remove("/1.0/nodes/node0", R"({"force":true})"));
    CHECK(api.get(instance).status == 404);
    CHECK(api.get("/1.0/nodes").metadata() == Json::array());
    daemon.restart([](server::Options&) {});
    CHECK(daemon.api().get("/1.0/nodes").metadata() == Json::array());
    daemon.api().succeed(daemon.api().post(
        "/1.0/nodes",
        Json::object({{"name", "node0"}, {"address", "127.0.0.1"}, {"cpu_allocation_rate", 2}})));
    const Json node = daemon.api().get("/1.0/nodes/node0").metadata();
    CHECK(node.at("status") == Json("online"));
    CHECK(node.at("cpu_allocation_rate") == Json(2));
    CHECK_NOTHROW(daemon.api().launch("base"));
}

TEST_CASE("a machine that has not come is waited for") {
    TestDaemon daemon([](server::Options& options) { options.simulated.nodes = 2; });
    ApiCaller& api = daemon.api();
    CHECK(api.get("/1.0/nodes").metadata() == Json::array({"/1.0/nodes/sim1", "/1.0/nodes/sim2"}));
    const ApiReply added =
        api.post("/1.0/nodes", Json::object({{"name", "sim3"}, {"address", "10.200.0.1:8445"}}));
    CHECK(added.status == 202);
    const std::string status = api.get("/1.0/nodes/sim3").metadata().at("status").as_string();
    CHECK((status == "created" || status == "initializing"));
    api.succeed(api.remove("/1.0/nodes/sim3"));
    CHECK(api.wait(added).at("status") == Json("Cancelled"));
    CHECK(api.get("/1.0/nodes/sim3").status == 404);
}

TEST_CASE("a node is evacuated") {
    TestDaemon daemon([](server::Options& options) { options.simulated.nodes = 2; });
    ApiCaller& api = daemon.api();
    api.add_image("base", image_package());
    const std::string id = api.launch("base");
    const std::string node = api.get("/1.0/containers/" + id).metadata().at("node").as_string();
    const std::string path = "/1.0/nodes/" + node + "/evacuate";
    CHECK(api.post(path, Json::object({{"mode", "sideways"}})).status == 400);
    CHECK(api.post("/1.0/nodes/none/evacuate", Json::object({{"mode", "stop"}})).status == 404);
    const Json done = api.wait(api.post(path, Json::object({{"mode", "relaunch"}})));
    CHECK(done.at("err") == Json(""));
    const std::string told = done.at("metadata").at("instances").at(id).as_string();
    CHECK_THAT(told, Catch::StartsWith("launched anew as "));
    CHECK(api.get("/1.0/nodes/" + node).metadata().at("unscheduable") == Json(true));
    CHECK(api.get("/1.0/nodes/" + node).metadata().at("status") == Json("evacuated"));
    api.succeed(api.patch("/1.0/nodes/" + node, Json::object({{"unscheduable", false}})));
    CHECK(api.get("/1.0/nodes/" + node).metadata().at("status") == Json("online"));
    CHECK(api.get("/1.0/containers/" + id).status == 404);
    const std::string next = "/1.0/containers/" + told.substr(told.rfind(' ') + 1);
    CHECK(api.get(next).metadata().at("node") != Json(node));
}

TEST_CASE("the public address of a node reaches the records of its instances") {
    TestDaemon daemon;
    auto& api = daemon.api();
    api.add_image("base", image_package());
    const std::string instance = "/1.0/containers/" + api.launch("base");
    const auto shown = [&] { return api.get(instance).metadata().at("public_address").as_string(); };
    const std::string node = "/1.0/nodes/" + api.get(instance).metadata().at("node").as_string();
    for (const std::string address : {"203.0.113.7", "203.0.113.8"}) {
        api.succeed(api.patch(node, Json::object({{"public_address", address}})));
        CHECK(eventually([&] { return shown() == address; }));
    }
}

// A machine that got another name leaves its old node behind, with the instances on it.
TEST_CASE("a forced removal of a node deletes all of its instances or none") {
    TestDaemon daemon([](server::Options& options) { options.node_name = "old"; });
    daemon.api().add_image("base", image_package());
    const std::string ordinary = "/1.0/containers/" + daemon.api().launch("base");
    const std::string guarded = "/1.0/containers/" + daemon.api().launch("base");
    const auto protect = [&](bool wanted) {
        const Json security = Json::object({{"delete_protected", wanted}});
        daemon.api().succeed(
            daemon.api().patch(guarded, Json::object({{"config", Json::object({{"security", security}})}})));
    };
    protect(true);
    daemon.restart([](server::Options& options) { options.node_name = "node0"; });
    ApiCaller& api = daemon.api();
    const Json refused = api.wait(api.remove("/1.0/nodes/old", R"({"force":true})"));
    CHECK_THAT(refused.at("err").as_string(), Catch::StartsWith("deleting protected container"));
    CHECK(api.get(ordinary).metadata().at("status") == Json("running"));
    CHECK(api.get(guarded).metadata().at("status") == Json("running"));
    protect(false);
    api.succeed(api.remove("/1.0/nodes/old", R"({"force":true})"));
    CHECK(api.get(ordinary).status == 404);
    CHECK(api.get(guarded).status == 404);
    CHECK(api.get("/1.0/nodes").metadata() == Json::array({"/1.0/nodes/node0"}));
}

TEST_CASE("tasks are objects with and without recursion") {
    TestDaemon daemon;
    CHECK(daemon.api().get("/1.0/tasks").metadata() == Json::array());
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base");
    const Json tasks = daemon.api().get("/1.0/tasks").metadata();
    CHECK(tasks.as_array().at(0).at("object_id") == Json(id));
    CHECK(tasks.as_array().at(0).at("status") == Json("running"));
    CHECK(daemon.api().get("/1.0/tasks?recursion=1").metadata() == tasks);
    CHECK(daemon.api().get("/1.0/tasks?recursion=3").status == 400);
}

}  // namespace svc::test

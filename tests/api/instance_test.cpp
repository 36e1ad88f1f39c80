#include <catch2/catch.hpp>

#include <set>

#include "libsvc/base/json.h"
#include "tests/support/eventually.h"
#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct InstanceSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::string image = api.add_image("base", image_package());

    Json launch_body() const { return Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}); }
};

}  // namespace

TEST_CASE_METHOD(InstanceSetup, "a launched instance runs") {
    const ApiReply accepted = api.post("/1.0/containers", launch_body());
    check_golden("api/golden/instance_launch.json", normalise(accepted.json()));
    const Json operation = api.wait(accepted);
    check_golden("api/golden/instance_operation.json", normalise(operation));
    const std::string id = resource_id(operation, "containers");
    check_golden("api/golden/instance.json", normalise(api.get("/1.0/containers/" + id).json()));
    check_golden("api/golden/task.json", normalise(api.get("/1.0/tasks").json()));
}

TEST_CASE_METHOD(InstanceSetup, "both words name the same instances and urls use the one asked for") {
    const std::string id = api.launch("base", "instances");
    CHECK(api.get("/1.0/instances").metadata() == Json::array({"/1.0/instances/" + id}));
    CHECK(api.get("/1.0/containers").metadata() == Json::array({"/1.0/containers/" + id}));
    const Json record = api.get("/1.0/instances/" + id).metadata();
    CHECK(api.get("/1.0/containers/" + id).metadata() == record);
    CHECK(api.get("/1.0/containers?recursion=1").metadata() == Json::array({record}));
    CHECK(api.get("/1.0/instances/svc-" + id).metadata() == record);
    CHECK(api.get("/1.0/instances/" + id + "/logs").metadata() == Json::array());
    CHECK(api.get("/1.0/instances/" + id + "/logs/console.log").error() == "log not found");
}

TEST_CASE_METHOD(InstanceSetup, "one instance is listed by name or id if all filters pass") {
    const std::string id = api.launch("base");
    api.launch("base");
    const auto list = [&](const std::string& query) {
        return api.get("/1.0/containers?" + query).metadata();
    };
    const Json one = Json::array({"/1.0/containers/" + id});
    CHECK(list("name=svc-" + id) == one);
    CHECK(list("name=nothing,svc-" + id) == one);
    CHECK(list("id=" + id) == one);
    CHECK(list("id=" + id + "&name=svc-" + id + "&status=running") == one);
    CHECK(list("id=" + id + "&status=stopped") == Json::array());
    CHECK(list("id=" + id + "&name=svc-nothing") == Json::array());
    CHECK(list("name=" + id) == Json::array());    // an id is no name,
    CHECK(list("id=svc-" + id) == Json::array());  // nor the other way round
    CHECK(list("name=svc-nothing") == Json::array());
    CHECK(list("id=") == list(""));
    const Json page = api.get("/1.0/containers?offset=1&name=svc-" + id).json();
    CHECK(page.at("metadata") == Json::array());
    CHECK(page.at("total_size") == Json(1));
}

TEST_CASE_METHOD(InstanceSetup, "an instance is restarted by one request") {
    const std::string url = "/1.0/instances/" + api.launch("base");
    const auto restart = [&] { return api.patch(url, Json::object({{"desired_status", "restarted"}})); };
    const ApiReply accepted = restart();
    CHECK(accepted.status == 202);
    const Json operation = api.succeed(accepted);
    CHECK(operation.at("description") == Json("Restarting container"));
    CHECK(operation.at("resources").at("instances") == Json(JsonArray{url}));
    CHECK(api.get(url).metadata().at("status") == Json("running"));
    api.succeed(api.patch(url, Json::object({{"desired_status", "stopped"}})));
    CHECK(restart().status == 400);
    CHECK(restart().error() == "restarting a container that is stopped not allowed");
    CHECK(api.patch("/1.0/instances/nothing", Json::object({{"desired_status", "restarted"}})).status == 404);
    CHECK(api.patch(url, Json::object({{"desired_status", "shaken"}})).error() ==
          "argument desired_status is invalid: must be running, paused, stopped or restarted");
}

TEST_CASE_METHOD(InstanceSetup, "an instance is paused and resumed") {
    const std::string url = "/1.0/containers/" + api.launch("base");
    const auto show = [&] { return daemon.api().get(url).metadata(); };  // a restart makes another caller
    const auto wish = [&](const char* status) {
        return daemon.api().patch(url, Json::object({{"desired_status", status}}));
    };
    const ApiReply pause = wish("paused");
    CHECK(pause.status == 202);
    CHECK(api.succeed(pause).at("description") == Json("Updating container"));
    const Json record = show();
    CHECK(record.at("paused") == Json(true));
    CHECK(record.at("status") == Json("running"));
    CHECK(record.at("status_code") == Json(4));
    CHECK(wish("paused").error() == "Already paused");
    const ApiReply refused = api.post(url + "/exec", Json::parse(R"({"command": ["true"]})"));
    CHECK(refused.status == 400);
    CHECK(refused.error() == "exec in a container that is paused not allowed");
    daemon.restart();
    CHECK(show() == record);
    daemon.api().succeed(wish("running"));
    CHECK(show().find("paused") == nullptr);
    daemon.api().succeed(wish("paused"));
    daemon.api().succeed(wish("stopped"));
    CHECK(show().at("status") == Json("stopped"));
    CHECK(wish("paused").error() == "pausing a container that is stopped not allowed");
    CHECK(daemon.api().patch("/1.0/instances/nothing", Json::object({{"desired_status", "paused"}})).status ==
          404);
}

TEST_CASE_METHOD(InstanceSetup, "a named instance is addressed by its name") {
    Json body = launch_body();
    body.set("name", "web-1");
    const std::string id = resource_id(api.succeed(api.post("/1.0/containers", body)), "containers");
    const Json record = api.get("/1.0/containers/" + id).metadata();
    CHECK(record.at("name") == Json("web-1"));
    CHECK(api.get("/1.0/instances/web-1").metadata() == record);
    CHECK(api.get("/1.0/containers?recursion=1&name=web-1").metadata() == Json::array({record}));
    CHECK(api.get("/1.0/containers?name=svc-" + id).metadata() == Json::array());
    const ApiReply taken = api.post("/1.0/instances", body);
    CHECK(taken.status == 409);
    CHECK(taken.error() == "container 'web-1' already exists");
    body.set("name", "web_1");
    CHECK(api.post("/1.0/instances", body).status == 400);
    api.succeed(api.remove("/1.0/instances/web-1"));
    CHECK(api.get("/1.0/instances/web-1").status == 404);
}

TEST_CASE_METHOD(InstanceSetup, "a protected instance is deleted when that is taken off") {
    Json body = launch_body();
    body.set("config", Json::parse(R"({"security": {"delete_protected": true}})"));
    const std::string id = resource_id(api.succeed(api.post("/1.0/containers", body)), "containers");
    const std::string url = "/1.0/containers/" + id;
    const std::string text = "deleting protected container '" + id + "' not allowed";
    CHECK(api.get(url).metadata().at("config").at("security").at("delete_protected") == Json(true));
    for (const char* request : {"", R"({"force": true})"}) {
        const ApiReply refused = api.remove(url, request);
        CHECK(refused.status == 403);
        CHECK(refused.error() == text);
    }
    const std::string other = api.launch("base");
    const Json several =
        api.wait(api.remove("/1.0/instances", Json::object({{"ids", Json::array({other, id})}}).dump()));
    CHECK(several.at("status_code") == Json(400));
    CHECK_THAT(several.at("err").as_string(), Catch::Contains(text));
    CHECK(api.get("/1.0/containers/" + other).status == 404);
    CHECK(api.get(url).metadata().at("status") == Json("running"));
    const ApiReply change = api.patch(
        "/1.0/instances/" + id, Json::parse(R"({"config": {"security": {"delete_protected": false}}})"));
    CHECK(change.status == 202);
    CHECK(api.succeed(change).at("description") == Json("Updating container"));
    CHECK(api.get(url).metadata().at("config").find("security") == nullptr);
    api.succeed(api.remove(url));
    CHECK(api.get(url).status == 404);
}

TEST_CASE_METHOD(InstanceSetup, "an instance is deleted when its time is over, which a patch changes") {
    Json body = launch_body();
    body.set("expires_after", "2h");
    body.set("idle_after", "30m");
    const std::string id = resource_id(api.succeed(api.post("/1.0/containers", body)), "containers");
    const std::string url = "/1.0/instances/" + id;
    const auto change = [&](const char* fields) { api.succeed(api.patch(url, Json::parse(fields))); };
    const Json record = api.get(url).metadata();
    CHECK(record.at("expires_at").as_int() == record.at("created_at").as_int() + 7200);
    CHECK(record.at("idle_after") == Json("30m"));
    CHECK(record.at("used_at") == record.at("created_at"));
    change(R"({"expires_after": "never", "idle_after": "never"})");
    for (const char* field : {"expires_at", "idle_after", "used_at"})
        CHECK(api.get(url).metadata().find(field) == nullptr);
    const ApiReply refused = api.patch(url, Json::parse(R"({"expires_after": "-1h"})"));
    CHECK(refused.status == 400);
    CHECK(refused.error() ==
          "argument expires_after is invalid: '-1h' is neither a duration (90s, 2h, 1h30m) nor never");
    CHECK(api.patch("/1.0/instances/nothing", Json::parse(R"({"idle_after": "1h"})")).status == 404);
    change(R"({"expires_after": "1s"})");
    eventually("it is gone", [&] { return api.get(url).status == 404; });
    const auto requestor = [&]() -> std::string {
        const Json operations = api.get("/1.0/operations?recursion=1").metadata();
        for (const auto& [status, all] : operations.as_object())
            for (const Json& operation : all.as_array())
                if (operation.at("description") == Json("Deleting container"))
                    return operation.at("requestor").as_string();
        return "";
    };
    eventually("its deletion is told", [&] { return requestor() == "expired"; });
}

TEST_CASE_METHOD(InstanceSetup, "clients tell which instances they use") {
    const std::string id = api.launch("base");
    const auto tell = [&](const char* body) { return api.post("/1.0/uses", Json::parse(body)).status; };
    CHECK(api.post("/1.0/uses", Json::object({{"instances", Json::array({id, "gone"})}})).status == 200);
    CHECK(tell(R"({"instances": []})") == 200);
    CHECK(tell("{}") == 400);
    CHECK(tell(R"({"instances": "all"})") == 400);
    CHECK(tell(R"({"instances": [1]})") == 400);
    Json many = Json::array();
    for (int i = 0; i < 1001; ++i) many.push_back("gone");
    CHECK(api.post("/1.0/uses", Json::object({{"instances", many}})).status == 400);
}

TEST_CASE_METHOD(InstanceSetup, "pages of instances and tasks end with the list") {
    for (int i = 0; i < 3; ++i) api.launch("base");
    for (const std::string url :
         {"/1.0/containers?recursion=1", "/1.0/instances?recursion=0", "/1.0/tasks?"}) {
        const JsonArray all = api.get(url).metadata().as_array();
        REQUIRE(all.size() == 3);
        const auto page = [&](const std::string& query) {
            const Json reply = api.get(url + "&" + query).json();
            CHECK(reply.at("total_size") == Json(3));
            return reply.at("metadata");
        };
        CHECK(page("limit=2") == Json::array({all[0], all[1]}));
        CHECK(page("offset=2&limit=2") == Json::array({all[2]}));
        CHECK(page("offset=3&limit=1") == Json::array());
        CHECK(page("offset=4") == Json::array());
        CHECK(page("limit=0") == Json::array());
        CHECK(page("offset=1&limit=-1&status=running") == Json::array({all[1], all[2]}));
        CHECK(api.get(url + "&limit=x").status == 400);
    }
}

TEST_CASE_METHOD(InstanceSetup, "faulty launches are refused") {
    const auto refusal = [&](const char* text) {
        return api.call(Method::post, "/1.0/containers", text).status;
    };
    CHECK(refusal(R"({"image_id":"base"})") == 400);
    CHECK(refusal(R"({"image_id":7,"instance_type":"a2.3"})") == 400);
    CHECK(refusal(R"({"image_id":"other","instance_type":"a2.3"})") == 404);
    CHECK(refusal(R"({"image_id":"base","instance_type":"a2.3","node":"elsewhere"})") == 404);
    CHECK(api.post("/1.0/containers?no_wait=perhaps", launch_body()).status == 400);
    CHECK(api.get("/1.0/containers").metadata() == Json::array());
}

TEST_CASE_METHOD(InstanceSetup, "an instance stops starts and goes") {
    const std::string url = "/1.0/containers/" + api.launch("base");
    const auto wish = [&](const char* status) {
        return api.patch(url, Json::object({{"desired_status", status}}));
    };
    CHECK(api.wait(wish("stopped")).at("status_code") == Json(200));
    CHECK(api.get(url).metadata().at("status") == Json("stopped"));
    CHECK(wish("stopped").status == 400);
    CHECK(wish("frozen").status == 400);
    CHECK(api.patch(url, Json::object()).status == 400);
    CHECK(api.wait(wish("running")).at("status_code") == Json(200));
    CHECK(api.get(url).metadata().at("status") == Json("running"));
    CHECK(api.wait(api.remove(url, "{\"force\":true}")).at("status_code") == Json(200));
    CHECK(api.get(url).status == 404);
    CHECK(api.remove(url).status == 404);
    CHECK(wish("running").status == 404);
}

TEST_CASE("a failed instance keeps its logs") {
    TestDaemon daemon([](server::Options& options) { options.simulated.fail_share = 1; });
    daemon.api().add_image("base", image_package());
    const ApiReply accepted =
        daemon.api().post("/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
    CHECK(daemon.api().wait(accepted).at("status_code") == Json(400));
    const std::string url = "/1.0/containers/" + resource_id(accepted.metadata(), "containers");
    CHECK(daemon.api().get(url).metadata().at("stored_logs") == Json::array({"console.log"}));
    CHECK(daemon.api().get(url + "/logs").metadata() == Json::array({url + "/logs/console.log"}));
    const ApiReply log = daemon.api().get(url + "/logs/console.log");
    CHECK(log.headers.get("Content-Type") == "text/plain; charset=utf-8");
    CHECK(log.text == "the simulated init was told to fail\n");
}

TEST_CASE_METHOD(InstanceSetup, "several instances are deleted at once under both words") {
    for (const std::string word : {"containers", "instances"}) {
        const std::string first = api.launch("base");
        const std::string second = api.launch("base");
        const std::string url = "/1.0/" + word;
        const auto remove = [&](const JsonArray& ids) {
            return api.remove(url, Json::object({{"ids", ids}, {"force", true}}).dump());
        };
        CHECK(remove({first, "nothing"}).status == 404);
        CHECK(remove({}).status == 400);
        CHECK(api.remove(url).status == 400);
        const Json operation = api.succeed(remove({first, second}));
        CHECK(operation.at("resources").at(word) == Json::array({url + "/" + first, url + "/" + second}));
        CHECK(api.get(url).metadata() == Json::array());
    }
}

TEST_CASE_METHOD(InstanceSetup, "a report needs the token of its instance") {
    const std::string url = "/1.0/containers/" + api.launch("base");
    ApiCaller inside(daemon.agent_target());
    const auto report = [&](const std::string& authorization) {
        Headers headers;
        if (!authorization.empty()) headers.set("Authorization", authorization);
        return inside.call(Method::patch, url, R"({"status":"running"})", headers);
    };
    CHECK(report("").error() == "missing token");
    CHECK(report("").status == 401);
    CHECK(report("bearer abc.def.ghi").status == 403);
    CHECK(report("basic abc").status == 403);
}

TEST_CASE_METHOD(InstanceSetup, "launches at once all get addresses of their own") {
    constexpr std::size_t count = 50;
    std::vector<ApiReply> accepted;
    for (std::size_t i = 0; i < count; ++i) accepted.push_back(api.post("/1.0/containers", launch_body()));
    for (const ApiReply& reply : accepted) CHECK(api.wait(reply).at("status_code") == Json(200));
    const Json records = api.get("/1.0/containers?recursion=1").metadata();
    std::set<std::string> addresses;
    for (const Json& record : records.as_array()) addresses.insert(record.at("address").as_string());
    CHECK(addresses.size() == count);
}

}  // namespace svc::test

#include <catch2/catch.hpp>

#include <sys/socket.h>

#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

namespace {

// Starts take an hour: a launch is under way for as long as a test wants.
struct OperationSetup {
    TestDaemon daemon{[](server::Options& options) {
        options.simulated.start_delay = std::chrono::hours(1);
        options.shutdown_grace = Duration(0);
    }};
    ApiCaller& api = daemon.api();
    std::string image = api.add_image("base", image_package());
    ApiReply launch =
        api.post("/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
};

// What clients of the family know an operation by.
struct Described {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();

    std::string said(const ApiReply& accepted) {
        api.succeed(accepted);
        api.settle();  // an application's bootstrap
        return accepted.metadata().at("description").as_string();
    }
    std::string sent(Method method, const std::string& path, const std::string& request,
                     const std::string& package) {
        return said(api.upload(method, path, request, package));
    }
    std::string changed(const std::string& path, const Json& body) { return said(api.patch(path, body)); }
    std::string gone(const std::string& path) { return said(api.remove(path)); }
};

}  // namespace

TEST_CASE_METHOD(Described, "operations on images and addons say what they do") {
    CHECK(sent(Method::post, "/1.0/images", R"({"name":"base"})", image_package()) == "Adding image");
    CHECK(sent(Method::patch, "/1.0/images/base", "", image_package({.text = "new"})) == "Updating image");
    CHECK(gone("/1.0/images/base/0") == "Deleting image version");
    CHECK(gone("/1.0/images/base") == "Deleting image");
    CHECK(sent(Method::post, "/1.0/addons", R"({"name":"ssh"})", addon_package()) == "Creating addon");
    CHECK(sent(Method::patch, "/1.0/addons/ssh", "{}", addon_package("new")) == "Updating addon");
    CHECK(gone("/1.0/addons/ssh/0") == "Deleting addon version");
    CHECK(gone("/1.0/addons/ssh") == "Deleting addon");
}

TEST_CASE_METHOD(Described, "operations on applications and instances say what they do") {
    api.add_image("base", image_package());
    const std::string candy = "/1.0/applications/candy";
    CHECK(sent(Method::post, "/1.0/applications", "", application_package("candy")) ==
          "Creating application");
    CHECK(changed(candy, Json::object({{"manifest_version", "2"}})) == "Updating application");
    CHECK(changed(candy + "/0", Json::object({{"published", false}})) == "Updating application version");
    CHECK(gone(candy + "/0") == "Delete application version");
    CHECK(gone(candy) == "Deleting application");
    const ApiReply launch =
        api.post("/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
    CHECK(said(launch) == "Creating container");
    const std::string one = "/1.0/containers/" + resource_id(launch.metadata(), "containers");
    CHECK(changed(one, Json::object({{"desired_status", "stopped"}})) == "Updating container");
    CHECK(gone(one) == "Deleting container");
}

TEST_CASE_METHOD(Described, "operations on the service say what they do") {
    CHECK(changed("/1.0/config", Json::object({{"name", "registry.mode"}, {"value", "push"}})) ==
          "Applying configuration");
    daemon.trust(make_key_pair(daemon.path(), "client"));
    CHECK(gone(api.get("/1.0/certificates").metadata().as_array().at(0).as_string()) ==
          "Deleting certificate");
    CHECK(changed("/1.0/nodes/node0", Json::object({{"cpus", 8}})) == "Updating node node0");
}

TEST_CASE_METHOD(OperationSetup, "operations are listed by status without a leading slash") {
    const Json urls = api.get("/1.0/operations").metadata();
    CHECK(urls.at("running") == Json::array({"1.0/operations/" + launch.operation_id()}));
    CHECK(urls.at("success").as_array().size() == 1);
    const Json records = api.get("/1.0/operations?recursion=1").metadata();
    CHECK(records.at("running").as_array().at(0).at("id") == Json(launch.operation_id()));
    CHECK(api.get("/1.0/operations?recursion=true").status == 400);
}

TEST_CASE_METHOD(OperationSetup, "waiting ends with its time and gives the record as it is") {
    const std::string wait = launch.operation() + "/wait?timeout=";
    CHECK(api.get(wait + "0").metadata().at("status_code") == Json(103));
    CHECK(api.get(wait + "50ms").metadata().at("status_code") == Json(103));
    CHECK(api.get(wait + "-2").status == 400);
    CHECK(api.get(wait + "soon").status == 400);
    CHECK(api.get("/1.0/operations/00000000-0000-4000-8000-000000000000/wait").error() ==
          "operation not found");
}

TEST_CASE_METHOD(OperationSetup, "a client that ends its side still gets what it waits for") {
    RawClient client(daemon.local_target());
    client.send("GET " + launch.operation() + "/wait HTTP/1.1\r\nHost: s\r\n\r\n");
    shutdown(client.descriptor(), SHUT_WR);
    CHECK(api.remove(launch.operation()).status == 202);
    const RawReply reply = client.reply();
    REQUIRE(reply.status == 200);
    CHECK(Json::parse(reply.body).at("metadata").at("status_code") == Json(401));
    CHECK(client.read_to_end().empty());
}

TEST_CASE_METHOD(OperationSetup, "a cancelled launch leaves nothing") {
    const ApiReply cancelled = api.remove(launch.operation());
    CHECK(cancelled.status == 202);
    CHECK(cancelled.json().at("type") == Json("sync"));
    const Json operation = api.wait(launch);
    CHECK(operation.at("status_code") == Json(401));
    CHECK(operation.at("may_cancel") == Json(false));
    CHECK(api.get("/1.0/containers").metadata() == Json::array());
    CHECK(api.remove(launch.operation()).error() == "Only running operations can be cancelled");
    CHECK(api.remove("/1.0/operations/x").status == 404);
    CHECK(api.get("/1.0/operations/x").status == 404);
}

TEST_CASE_METHOD(OperationSetup, "secrets are shown to the creator alone") {
    const Json record = api.get(launch.operation()).metadata();
    CHECK(record.at("class") == Json("task"));
    CHECK(record.at("may_cancel") == Json(true));
    ApiCaller guest(daemon.tls_target());
    CHECK(guest.get(launch.operation()).status == 403);
}

TEST_CASE("a running launch goes on after a restart") {
    TestDaemon daemon([](server::Options& options) {
        options.simulated.start_delay = std::chrono::hours(1);
        options.shutdown_grace = Duration(0);
    });
    daemon.api().add_image("base", image_package());
    const ApiReply launch =
        daemon.api().post("/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
    daemon.restart();
    const int code =
        static_cast<int>(daemon.api().get(launch.operation()).metadata().at("status_code").as_int());
    CHECK((code == 103 || code >= 200));
}

}  // namespace svc::test

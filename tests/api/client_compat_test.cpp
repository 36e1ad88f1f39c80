// The behaviour that existing client libraries rely on, a test for each point.
#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_certificates.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

constexpr std::chrono::seconds patience{20};

struct ClientCompatSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();

    // As the library does it: subscribe, ask, wait for the final event, read the operation once.
    Json follow(const std::function<ApiReply()>& request) {
        WebSocketClient events(daemon.local_target(), "/1.0/events");
        const ApiReply accepted = request();
        REQUIRE(accepted.status == 202);
        for (auto message = events.receive(patience); message; message = events.receive(patience)) {
            REQUIRE(message->kind == WebSocketMessage::Kind::text);
            const Json event = Json::parse(message->data);
            if (event.at("type") != Json("operation")) continue;
            const Json& operation = event.at("metadata");
            if (operation.at("id") == Json(accepted.operation_id()) &&
                operation.at("status_code").as_int() >= 200)
                return api.get(accepted.operation()).metadata();
        }
        FAIL("no final event came");
        return {};
    }
    ApiReply launch() {
        return api.call(Method::post, "/1.0/containers", R"({"image_id":"base","instance_type":"a2.3"})");
    }
};

Headers upload_headers(const std::string& request, const std::string& package) {
    Headers headers;
    headers.set("X-SVC-Request", request);
    headers.set("X-SVC-Fingerprint", sha256_hex(package));
    return headers;
}

}  // namespace

TEST_CASE_METHOD(ClientCompatSetup, "clients read the extensions first with or without a trailing slash") {
    CHECK_FALSE(api.get("/1.0").metadata().at("api_extensions").as_array().empty());
    CHECK(api.get("/1.0/").text == api.get("/1.0").text);
}

TEST_CASE_METHOD(ClientCompatSetup, "clients subscribe before each request and wait for the final event") {
    api.add_image("base", image_package());
    CHECK(follow([&] { return launch(); }).at("status") == Json("Success"));
    api.add_addon("ssh", addon_package());
    CHECK(follow([&] { return api.remove("/1.0/addons/ssh"); }).at("status") == Json("Success"));
}

TEST_CASE_METHOD(ClientCompatSetup, "the final event of a failed operation says why") {
    api.add_image("base", image_package());
    const Json operation = follow([&] {
        return api.call(Method::post, "/1.0/containers",
                        R"({"image_id":"base","instance_type":"a2.3","cpu":100000})");
    });
    CHECK(operation.at("status_code") == Json(400));
    CHECK_FALSE(operation.at("err").as_string().empty());
}

TEST_CASE("a cancelled operation says so in err") {
    TestDaemon daemon([](server::Options& options) {
        options.simulated.start_delay = std::chrono::hours(1);
        options.shutdown_grace = Duration(0);
    });
    daemon.api().add_image("base", image_package());
    const ApiReply accepted =
        daemon.api().post("/1.0/containers", Json::object({{"image_id", "base"}, {"instance_type", "a2.3"}}));
    daemon.api().remove(accepted.operation());
    const Json operation = daemon.api().wait(accepted);
    CHECK(operation.at("status_code") == Json(401));
    CHECK_FALSE(operation.at("err").as_string().empty());
}

TEST_CASE_METHOD(ClientCompatSetup, "uploads come chunked with the headers clients send") {
    const std::string image = image_package();
    const std::string addon = addon_package();
    const std::string newer_image = image_package({.text = "new"});
    const std::string newer_addon = addon_package("new");
    const std::string application = application_package("candy");
    const std::string newer = application_package("candy", "version: two\n");
    const auto send = [&](Method method, const std::string& path, const std::string& request,
                          const std::string& package) {
        api.succeed(api.upload_chunked(method, path, package, upload_headers(request, package)));
        api.settle();
    };
    send(Method::post, "/1.0/images", R"({"name":"base","default":true})", image);
    send(Method::patch, "/1.0/images/base", R"({"default":null,"force_sync":false})", newer_image);
    send(Method::post, "/1.0/addons", R"({"name":"ssh"})", addon);
    send(Method::patch, "/1.0/addons/ssh", "{}", newer_addon);
    send(Method::post, "/1.0/applications", "", application);
    send(Method::patch, "/1.0/applications/candy", "", newer);
    CHECK(api.get("/1.0/applications/candy").metadata().at("status") == Json("ready"));
}

// Without any header it is sent by openapi_test.py; the client here always adds one, which says nothing of
// JSON.
TEST_CASE_METHOD(ClientCompatSetup, "json comes without a content type") {
    api.add_image("base", image_package());
    CHECK(follow([&] { return launch(); }).at("status_code") == Json(200));
    CHECK(api.wait(api.call(Method::patch, "/1.0/config", R"({"name":"gpu.type","value":"amd"})"))
              .at("status_code") == Json(200));
    CHECK(api.wait(api.call(Method::patch, "/1.0/nodes/node0", R"({"cpus":4})")).at("status_code") ==
          Json(200));
}

TEST_CASE_METHOD(ClientCompatSetup, "delete comes with a body or without") {
    api.add_image("base", image_package());
    api.add_image("spare", image_package({.text = "spare"}));
    const std::string first = api.launch("base");
    const std::string second = api.launch("base");
    api.succeed(api.remove("/1.0/containers/" + first));
    api.succeed(api.remove("/1.0/containers/" + second, R"({"force":false})"));
    api.succeed(api.remove("/1.0/images/spare", R"({"force":true})"));
}

TEST_CASE_METHOD(ClientCompatSetup, "an empty json patch of an application applies pending updates") {
    api.add_image("base", image_package());
    api.add_application(application_package("candy"));
    Headers headers;
    headers.set("Content-Type", "application/json");
    api.succeed(api.call(Method::patch, "/1.0/applications/candy", "", headers));  // there is none
    api.set("application.auto_update", "false");
    api.succeed(api.upload(Method::patch, "/1.0/images/base", "", image_package({.text = "new"})));
    api.settle();
    CHECK(api.get("/1.0/applications/candy").metadata().at("versions").as_array().size() == 1);
    api.succeed(api.call(Method::patch, "/1.0/applications/candy", "", headers));
    api.settle();
    CHECK(api.get("/1.0/applications/candy").metadata().at("versions").as_array().size() == 2);
}

TEST_CASE_METHOD(ClientCompatSetup, "an application names its addons and a version the versions of them") {
    api.add_image("base", image_package());
    api.add_addon("ssh", addon_package());
    api.succeed(api.upload(Method::patch, "/1.0/addons/ssh", "{}", addon_package("new")));
    api.add_application(application_package("candy", "addons: [ssh]\n"));
    const Json record = api.get("/1.0/applications?recursion=1").metadata().as_array().at(0);
    CHECK(record.at("addons") == Json::array({"ssh"}));
    CHECK(record.at("versions").as_array().at(0).at("addons") ==
          Json::array({Json::object({{"name", "ssh"}, {"version", 1}})}));
}

// One that is announced this way reads records of another shape below /1.0/instances.
TEST_CASE_METHOD(ClientCompatSetup, "instances are not announced as records of their own") {
    const Json server = api.get("/1.0").metadata();
    for (const Json& name : server.at("api_extensions").as_array())
        CHECK_FALSE(name == Json("instance_support"));
}

TEST_CASE_METHOD(ClientCompatSetup, "an image is launched by its resources under both words") {
    api.add_image("base", image_package());
    for (const char* path : {"/1.0/containers", "/1.0/instances"})
        for (const char* body :
             {R"({"image_id": "base", "instance_type": "", "cpus": 1, "memory": 536870912,
                  "disk_size": 1073741824, "services": null, "config": {}})",
              R"({"image_id": "base", "type": "container", "services": null, "config": {"security": {}},
                  "resources": {"cpus": 1, "memory": 536870912, "disk_size": 1073741824}})"}) {
            const Json operation = api.succeed(api.call(Method::post, path, body));
            const std::string id =
                operation.at("resources").as_object().at(0).second.as_array().at(0).as_string();
            CHECK(api.get(id).metadata().at("resources") ==
                  Json::parse(R"({"cpus": 1, "memory": "512MB", "disk-size": "1GB"})"));
        }
}

TEST_CASE_METHOD(ClientCompatSetup, "what a launch leaves open is the default types") {
    api.add_image("base", image_package());
    const Json operation = api.succeed(
        api.call(Method::post, "/1.0/containers", R"({"image_id": "base", "resources": {"cpus": 1}})"));
    CHECK(api.get("/1.0/containers/" + resource_id(operation, "containers")).metadata().at("resources") ==
          Json::parse(R"({"cpus": 1, "memory": "3GB", "disk-size": "3GB"})"));
}

TEST_CASE_METHOD(ClientCompatSetup, "a launch that contradicts itself is refused") {
    api.add_image("base", image_package());
    const ApiReply reply = api.call(Method::post, "/1.0/instances",
                                    R"({"image_id": "base", "cpu": 1, "resources": {"cpus": 2}})");
    CHECK(reply.status == 400);
    CHECK(reply.error() == "argument resources.cpus is invalid: must be the same as cpu");
}

TEST_CASE_METHOD(ClientCompatSetup, "patches of applications and images are always asynchronous") {
    api.add_image("base", image_package());
    api.add_image("second", image_package({.text = "second"}));
    api.add_application(application_package("candy"));
    CHECK(api.patch("/1.0/images/second", Json::object({{"default", true}})).status == 202);
    CHECK(api.patch("/1.0/applications/candy", Json::object({{"tags", Json::array({"game"})}})).status ==
          202);
}

TEST_CASE_METHOD(ClientCompatSetup, "the default image is an array with one object") {
    api.add_image("base", image_package());
    api.add_image("second", image_package({.text = "second"}));
    const Json images = api.get("/1.0/images?default=true").metadata();
    REQUIRE(images.as_array().size() == 1);
    CHECK(images.as_array().front().at("name") == Json("base"));
}

TEST_CASE_METHOD(ClientCompatSetup, "registry applications and tasks are objects without recursion") {
    api.add_image("base", image_package());
    api.add_application(application_package("candy"));
    std::filesystem::create_directory(daemon.path() / "registry");
    api.set("registry.mode", "manual");
    api.set("registry.url", "file://" + (daemon.path() / "registry").string());
    api.succeed(api.call(Method::post, "/1.0/registry/applications/candy/push"));
    CHECK(api.get("/1.0/registry/applications").metadata().as_array().at(0).is_object());
    api.launch("base");
    CHECK(api.get("/1.0/tasks").metadata().as_array().at(0).is_object());
    CHECK(api.get("/1.0/tasks?recursion=1").metadata().as_array().at(0).is_object());
}

TEST_CASE_METHOD(ClientCompatSetup, "operations are an object by lower case status") {
    api.add_image("base", image_package());
    const Json records = api.get("/1.0/operations?recursion=1").metadata();
    CHECK(records.at("success").as_array().at(0).at("status") == Json("Success"));
}

TEST_CASE_METHOD(ClientCompatSetup, "the text of an error is in its body") {
    const ApiReply reply = api.get("/1.0/images/x");
    CHECK(reply.json().at("type") == Json("error"));
    CHECK(reply.error() == "image not found");
}

TEST_CASE_METHOD(ClientCompatSetup, "an upload is answered before its work is done") {
    const std::string package = image_package({.padding = std::size_t{8} << 20U});
    CHECK(api.upload(Method::post, "/1.0/images", R"({"name":"big"})", package).status == 202);
    api.settle();
}

TEST_CASE_METHOD(ClientCompatSetup, "no wait is taken with post and patch of containers") {
    api.add_image("base", image_package());
    for (const char* no_wait : {"true", "false"}) {
        const std::string query = std::string("?no_wait=") + no_wait;
        const Json operation = api.succeed(api.call(Method::post, "/1.0/containers" + query,
                                                    R"({"image_id":"base","instance_type":"a2.3"})"));
        api.settle();
        const std::string url = "/1.0/containers/" + resource_id(operation, "containers");
        api.succeed(api.call(Method::patch, url + query, R"({"desired_status":"stopped"})"));
        api.settle();
        CHECK(api.get(url).metadata().at("status") == Json("stopped"));
    }
    CHECK(api.call(Method::post, "/1.0/containers?no_wait=perhaps", "{}").status == 400);
}

TEST_CASE_METHOD(ClientCompatSetup, "if match is never needed") {
    api.add_image("base", image_package());
    api.add_addon("ssh", addon_package());
    api.succeed(api.upload(Method::patch, "/1.0/addons/ssh", "{}", addon_package("new")));
    api.succeed(api.patch("/1.0/nodes/node0", Json::object({{"cpus", 4}})));
}

TEST_CASE_METHOD(ClientCompatSetup, "each sync answer has metadata") {
    api.add_image("base", image_package());
    const KeyPair keys = make_key_pair(daemon.path(), "client");
    const ApiReply added =
        api.post("/1.0/certificates", Json::object({{"certificate", read_file(keys.certificate)}}));
    REQUIRE(added.json().find("metadata") != nullptr);
    CHECK(added.metadata().is_null());
    const ApiReply exec = api.post("/1.0/containers/" + api.launch("base") + "/exec",
                                   Json::object({{"command", Json::array({"cat"})}}));
    CHECK(api.remove(exec.operation()).metadata() == Json::object());
    for (const char* path : {"/", "/1.0", "/1.0/version", "/1.0/addons", "/1.0/config", "/1.0/tasks"})
        CHECK(api.get(path).json().find("metadata") != nullptr);
}

TEST_CASE_METHOD(ClientCompatSetup, "the server certificate names the addresses it is reached at") {
    const std::string pem = read_file(daemon.options().state_dir / "server" / "server.crt");
    for (const char* host : {"127.0.0.1", "localhost", "::1"}) CHECK(certificate_names(pem, host));
    CHECK_FALSE(certificate_names(pem, "example.com"));
}

TEST_CASE_METHOD(ClientCompatSetup, "a guest reads the root to see the server certificate") {
    ApiCaller guest(daemon.tls_target());
    CHECK(guest.get("/").metadata() == Json::array({"/1.0"}));
}

TEST_CASE_METHOD(ClientCompatSetup, "an export has a file name with a dot and its fingerprint") {
    api.add_image("base", image_package());
    api.add_application(application_package("candy"));
    const ApiReply archive = api.get("/1.0/applications/candy/0");
    CHECK(archive.headers.get("Content-Disposition").find("filename=\"candy-0.tar.gz\"") !=
          std::string::npos);
    CHECK(archive.headers.get("X-SVC-Fingerprint") == sha256_hex(archive.text));
}

TEST_CASE_METHOD(ClientCompatSetup, "the sockets of a command open once by their secrets") {
    api.add_image("base", image_package());
    const ApiReply accepted = api.post("/1.0/containers/" + api.launch("base") + "/exec",
                                       Json::object({{"command", Json::array({"cat"})}}));
    const Json fds = accepted.metadata().at("metadata").at("fds");
    const auto url = [&](const char* fd) {
        return accepted.operation() + "/websocket?secret=" + fds.at(fd).as_string();
    };
    ApiCaller guest(daemon.tls_target());
    WebSocketClient input(daemon.tls_target(), url("0"));  // a guest with the secret is fine
    CHECK_THROWS(WebSocketClient(daemon.local_target(), url("0")));
    WebSocketClient output(daemon.local_target(), url("1"));
    WebSocketClient errors(daemon.local_target(), url("2"));
    input.send_text("");  // the end of the input
    CHECK(api.wait(accepted).at("metadata").at("return") == Json(0));
}

}  // namespace svc::test

#include <catch2/catch.hpp>

#include "libsvc/model/cluster/config.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/support/application_package.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

struct ConfigSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();

    ApiReply set(const std::string& body, const Headers& headers = {}) {
        return api.call(Method::patch, "/1.0/config", body, headers);
    }
    // Sets the item and waits until so many operations that follow from it have ended.
    void set_and_await(const std::string& key, const std::string& value, const std::string& description,
                       int count = 1) {
        WebSocketClient events(daemon.local_target(), "/1.0/events?type=operation");
        api.set(key, value);
        while (count > 0) {
            const auto message = events.receive(long_wait);
            REQUIRE(message);
            const Json operation = Json::parse(message->data).at("metadata");
            if (operation.at("description") == Json(description) &&
                operation.at("status_code").as_int() >= 200)
                --count;
        }
        api.settle();
    }
    Json value(const std::string& key) { return api.get("/1.0/config").metadata().at("config").at(key); }
};

}  // namespace

TEST_CASE_METHOD(ConfigSetup, "every item is shown") {
    const Json items = api.get("/1.0/config").metadata().at("config");
    for (const ConfigKey& key : config_schema()) CHECK(items.find(key.name) != nullptr);
    CHECK(items.as_object().size() == config_schema().size());
    CHECK(items.at("application.max_published_versions") == Json(3));
    CHECK(items.at("application.auto_publish") == Json(true));
    CHECK(items.at("images.version_lockstep") == Json("true"));  // the specification wants text here
    CHECK(items.at("core.trust_password") == Json(false));
}

TEST_CASE_METHOD(ConfigSetup, "the schema tells of each item what it shows") {
    const Json values = api.get("/1.0/config").metadata().at("config");
    const Json schema = api.get("/1.0/config/schema").metadata();
    CHECK(schema.as_array().size() == values.as_object().size());
    for (const Json& item : schema.as_array()) {
        INFO(item.dump());
        const Json& shown = values.at(item.at("name").as_string());
        CHECK_FALSE(item.at("meaning").as_string().empty());
        if (item.at("secret").as_bool())
            CHECK(shown == Json(false));
        else
            CHECK((shown.is_string() ? shown.as_string() : shown.dump()) == item.at("default").as_string());
    }
}

TEST_CASE_METHOD(ConfigSetup, "an item is set and reset") {
    api.set("scheduler.strategy", "binpack");
    CHECK(value("scheduler.strategy") == Json("binpack"));
    daemon.restart();
    CHECK(daemon.api().get("/1.0/config").metadata().at("config").at("scheduler.strategy") ==
          Json("binpack"));
    daemon.api().set("scheduler.strategy", "");
    CHECK(daemon.api().get("/1.0/config").metadata().at("config").at("scheduler.strategy") == Json("spread"));
}

TEST_CASE_METHOD(ConfigSetup, "faulty items are refused at once") {
    CHECK(set(R"({"name":"scheduler.mood","value":"x"})").error() == "configuration item not found");
    CHECK(set(R"({"name":"scheduler.strategy","value":"x"})").status == 400);
    CHECK(set(R"({"name":"application.addons","value":"nothing"})").status == 404);
    CHECK(set(R"({"name":"scheduler.strategy"})").status == 400);
    CHECK(set(R"({"value":"x"})").status == 400);
    CHECK(set("[]").status == 400);
    CHECK(value("scheduler.strategy") == Json("spread"));
}

TEST_CASE_METHOD(ConfigSetup, "a stale etag of the configuration is refused") {
    const std::string etag = api.get("/1.0/config").headers.get("ETag");
    Headers headers;
    headers.set("If-Match", etag);
    const std::string body = R"({"name":"scheduler.strategy","value":"binpack"})";
    api.succeed(set(body, headers));
    CHECK(set(body, headers).status == 412);
    CHECK(api.get("/1.0/config").headers.get("ETag") != etag);
}

TEST_CASE_METHOD(ConfigSetup, "application addons update every application") {
    api.add_image("base", image_package());
    api.add_addon("ssh", addon_package());
    api.add_application(application_package("candy"));
    set_and_await("application.addons", "ssh", "Bootstrapping application");
    const Json versions = api.get("/1.0/applications/candy").metadata().at("versions");
    CHECK(versions.as_array().back().at("addons") ==
          Json::array({Json::object({{"name", "ssh"}, {"version", 0}})}));
    CHECK(api.remove("/1.0/addons/ssh").status == 409);
}

TEST_CASE_METHOD(ConfigSetup, "application max published versions is applied at once") {
    api.add_image("base", image_package());
    api.add_application(application_package("candy"));
    for (const char* version : {"1", "2"}) {
        api.succeed(api.patch("/1.0/applications/candy", Json::object({{"manifest_version", version}})));
        api.settle();
    }
    CHECK(api.get("/1.0/applications/candy").metadata().at("versions").as_array().size() == 3);
    set_and_await("application.max_published_versions", "1", "Delete application version", 2);
    CHECK(api.get("/1.0/applications/candy").metadata().at("versions").as_array().size() == 1);
}

}  // namespace svc::test

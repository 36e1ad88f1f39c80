#include <catch2/catch.hpp>

#include "libsvc/model/instances/instance.h"
#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::code_of;
using test::message_of;

Json raw_launch() {
    return Json::parse(R"({"image_id":"img","instance_type":"a2.3"})");
}

Json launching(const std::string& key, const std::string& value) {
    Json body = raw_launch();
    body.set(key, Json::parse(value));
    return body;
}

InstanceCreate launch(const std::string& key, const std::string& value) {
    return InstanceCreate::from_json(launching(key, value));
}

std::string launch_refusal(const std::string& key, const std::string& value) {
    CHECK(code_of([&] { launch(key, value); }).value_or(ErrorCode::invalid_argument) ==
          ErrorCode::invalid_argument);
    return message_of([&] { launch(key, value); });
}

TEST_CASE("a launch with everything") {
    const InstanceCreate request = InstanceCreate::from_json(Json::parse(R"({
        "image_id": "img", "image_version": 3, "instance_type": "g4.3", "user_data": "1280,720", "node": "node0",
        "services": [{"name": "ssh", "port": 22, "protocols": ["tcp", "tcp"], "expose": true, "node_port": "ours"},
                     {"port": 100, "port_end": 109, "protocols": ["udp", "tcp"]}],
        "disk_size": 4294967296, "memory": "2GB", "cpu": 3, "gpu_slots": 1, "addons": ["ssh"], "tags": ["ci"],
        "no_start": true, "unheard": {},
        "config": {"platform": "webrtc", "boot_package": "com.example.app", "boot_activity": ".Main",
                   "metrics_server": "influxdb:h:1,raw", "features": "a,b", "devmode": true, "disable_watchdog": true}})"));
    CHECK(request.image_id == "img");
    CHECK(request.image_version == 3);
    CHECK(request.instance_type == "g4.3");
    CHECK(request.user_data == "1280,720");
    CHECK(request.node == "node0");
    REQUIRE(request.services.size() == 2);
    CHECK(request.services[0].protocols == std::vector<std::string>{"tcp"});
    CHECK(request.services[0].expose);
    CHECK(request.services[0].node_port == 0);
    CHECK(request.services[1].port_end == 109);
    CHECK(request.disk_size == 4ULL << 30);
    CHECK(request.memory == 2ULL << 30);
    CHECK(request.cpus == 3);
    CHECK(request.gpu_slots == 1);
    CHECK(request.addons == std::vector<std::string>{"ssh"});
    CHECK(request.tags == std::vector<std::string>{"ci"});
    CHECK(request.no_start);
    CHECK(request.config.platform == "webrtc");
    CHECK(request.config.boot_package == "com.example.app");
    CHECK(request.config.boot_activity == ".Main");
    CHECK(request.config.metrics_server == "influxdb:h:1,raw");
    CHECK(request.config.features == "a,b");
    CHECK(request.config.devmode);
    CHECK(request.config.disable_watchdog);
}

TEST_CASE("a launch with the least, and with nulls for the rest") {
    Json body = raw_launch();
    for (const char* key :
         {"app_id", "app_version", "image_version", "user_data", "node", "services", "disk_size", "memory",
          "cpu", "gpu_slots", "addons", "tags", "no_start", "config"})
        body.set(key, Json());
    for (const Json& least : {raw_launch(), body}) {
        const InstanceCreate request = InstanceCreate::from_json(least);
        CHECK(request.services.empty());
        CHECK_FALSE(request.cpus);
        CHECK_FALSE(request.gpu_slots);
        CHECK_FALSE(request.memory);
        CHECK_FALSE(request.disk_size);
        CHECK_FALSE(request.no_start);
        CHECK(request.config.platform.empty());
    }
}

TEST_CASE("resources of a launch are told by any of their names, also within resources") {
    for (const char* body :
         {R"({"cpu": 4, "memory": 1073741824, "disk_size": "2GB", "gpu_slots": 1})",
          R"({"cpus": 4, "memory": "1GB", "disk-size": 2147483648, "gpu-slots": 1})",
          R"({"resources": {"cpus": 4, "memory": 1073741824, "disk_size": 2147483648, "gpu-slots": 1}})",
          R"({"cpu": 4, "resources": {"cpu": 4, "memory": "1GB", "disk-size": "2GB", "gpu_slots": 1}})"}) {
        INFO(body);
        Json launch = Json::parse(body);
        launch.set("image_id", "img");
        const InstanceCreate request = InstanceCreate::from_json(launch);
        CHECK(request.instance_type.empty());
        CHECK(request.cpus == 4);
        CHECK(request.memory == std::uint64_t{1} << 30);
        CHECK(request.disk_size == std::uint64_t{2} << 30);
        CHECK(request.gpu_slots == 1);
    }
    CHECK_FALSE(launch("resources", R"({"cpus": null, "disk_size": null})").cpus);
}

TEST_CASE("the specification's name of a field leads over its alias") {
    CHECK(launch("cpus", "4").cpus == 4);
    CHECK(launch("gpu-slots", "1").gpu_slots == 1);
    Json body = raw_launch();
    for (const auto& [key, value] : {std::pair("cpus", 4), {"cpu", 2}, {"gpu-slots", 3}, {"gpu_slots", 0}})
        body.set(key, value);
    CHECK(InstanceCreate::from_json(body).cpus == 2);
    CHECK(InstanceCreate::from_json(body).gpu_slots == 0);
}

TEST_CASE("a launch may leave out what records print as not set") {
    const InstanceCreate request = InstanceCreate::from_json(
        Json::parse(R"({"app_id": "a", "app_version": -1, "image_version": -1, "gpu_slots": -1})"));
    CHECK_FALSE(request.app_version);
    CHECK_FALSE(request.image_version);
    CHECK_FALSE(request.gpu_slots);
    CHECK_THROWS_WITH(launch("gpu_slots", "-2"), "argument gpu_slots is invalid: must be at least 0");
}

TEST_CASE("an instance may have a part of a core") {
    CHECK(launch("cpu", "0.5").cpus == 0.5);
    CHECK_THROWS_WITH(launch("cpu", "0.05"), "argument cpu is invalid: must be at least 0.1");
    CHECK(InstanceResources{1.5, 0, 0, 0}.to_json().dump() == R"({"cpus":1.5})");
    CHECK(InstanceResources{2, 0, 0, 0}.to_json().dump() == R"({"cpus":2})");
}

TEST_CASE("what a launch says twice must be the same") {
    const auto read = [](const Json& body) {
        Json launch = body;
        launch.set("app_id", "app");
        InstanceCreate::from_json(launch);
    };
    test::check_codec(
        read, {{R"({"cpu": 2, "cpus": 2, "resources": {"cpus": 2}})", test::is_taken},
               {R"({"cpus": 2, "resources": {"cpus": 4}})",
                "argument resources.cpus is invalid: must be the same as cpus"},
               {R"({"memory": "1GB", "resources": {"memory": 1}})",
                "argument resources.memory is invalid: must be the same as memory"},
               {R"({"disk_size": 1, "resources": {"disk_size": 2}})",
                "argument resources.disk_size is invalid: must be the same as disk_size"},
               {R"({"gpu_slots": 0, "resources": {"gpu-slots": 3}})",
                "argument resources.gpu-slots is invalid: must be the same as gpu_slots"},
               {R"({"resources": {"cpus": 0}})", "argument resources.cpus is invalid: must be at least 0.1"},
               {R"({"resources": []})", "argument resources is invalid: must be an object"}});
}

TEST_CASE("a launch is from an application or from an image") {
    CHECK(InstanceCreate::from_json(Json::parse(R"({"app_id":"app","app_version":2})")).app_version == 2);
    CHECK(message_of([] { InstanceCreate::from_json(Json::parse(R"({"app_id":"a","type":"vm"})")); }) ==
          "type vm not supported");
    test::check_codec(
        InstanceCreate::from_json,
        {{"{}", "app_id or image_id is required"},
         {R"({"app_id":"","image_id":""})", "app_id or image_id is required"},
         {R"({"app_id":"a","image_id":"b"})",
          "argument app_id is invalid: cannot be given together with image_id"},
         {R"({"image_id":"b"})", "instance_type is required"},
         {R"({"image_id":"b","instance_type":"","gpu_slots":1})", "instance_type is required"},
         {R"({"image_id":"b","instance_type":"a3.3"})",
          "argument instance_type is invalid: unknown instance type 'a3.3'"},
         {R"({"app_id":"a","instance_type":"a2.3"})", "argument instance_type is invalid*"},
         {R"({"app_id":"a","addons":["x"]})", "argument addons is invalid*"},
         {R"({"app_id":"a","image_version":1})", "argument image_version is invalid*"},
         {R"({"image_id":"b","instance_type":"a2.3","app_version":1})", "argument app_version*"},
         {"[]", "JSON value is not an object"}});
}

TEST_CASE("fields of a launch that are mistyped or out of range are named") {
    test::check_codec(InstanceCreate::from_json,
                      {
                          {launching("app_id", "1"), "*app_id*"},
                          {launching("image_id", "true"), "*image_id*"},
                          {launching("instance_type", "2"), "*instance_type*"},
                          {launching("image_version", "-2"), "*image_version*"},
                          {launching("image_version", "\"1\""), "*image_version*"},
                          {launching("image_version", "2147483648"), "*image_version*"},
                          {launching("user_data", "{}"), "*user_data*"},
                          {launching("node", "[]"), "*node*"},
                          {launching("services", "{}"), "*services*"},
                          {launching("services", "[1]"), "*services*"},
                          {launching("disk_size", "0"), "*disk_size*"},
                          {launching("disk_size", "-1"), "*disk_size*"},
                          {launching("disk_size", "1.5"), "*disk_size*"},
                          {launching("disk_size", "true"), "*disk_size*"},
                          {launching("disk_size", "\"x\""), "*disk_size*"},
                          {launching("memory", "0"), "*memory*"},
                          {launching("memory", "\"\""), "*memory*"},
                          {launching("memory", "1e30"), "*memory*"},
                          {launching("memory", "[]"), "*memory*"},
                          {launching("cpu", "0"), "*cpu*"},
                          {launching("cpu", "0.01"), "*cpu*"},
                          {launching("cpu", "\"2\""), "*cpu*"},
                          {launching("cpus", "0"), "*cpus*"},
                          {launching("cpu", "2147483648"), "*cpu*"},
                          {launching("gpu_slots", "-2"), "*gpu_slots*"},
                          {launching("gpu-slots", "\"1\""), "*gpu-slots*"},
                          {launching("addons", "\"a\""), "*addons*"},
                          {launching("addons", "[\"\"]"), "*addons*"},
                          {launching("addons", "[1]"), "*addons*"},
                          {launching("tags", "{}"), "*tags*"},
                          {launching("tags", "[\"a,b\"]"), "*tags*"},
                          {launching("tags", "[\"\"]"), "*tags*"},
                          {launching("no_start", "1"), "*no_start*"},
                          {launching("config", "\"\""), "*config*"},
                          {launching("config", "[]"), "*config*"},
                      });
}

TEST_CASE("the configuration of a launch is checked") {
    test::check_codec(
        InstanceCreate::from_json,
        {
            {launching("config", R"({"platform":"vulkan"})"), "argument config.platform is invalid*"},
            {launching("config", R"({"platform":1})"), "argument config.platform is invalid*"},
            {launching("config", R"({"boot_package":"app"})"), "argument config.boot_package is invalid*"},
            {launching("config", R"({"boot_package":1})"), "argument config.boot_package is invalid*"},
            {launching("config", R"({"boot_activity":"Main"})"), "argument config.boot_activity is invalid*"},
            {launching("config", R"({"boot_activity":1})"), "argument config.boot_activity is invalid*"},
            {launching("config", R"({"metrics_server":1})"), "argument config.metrics_server is invalid*"},
            {launching("config", R"({"metrics_server":"a\u0000b"})"),
             "argument config.metrics_server is invalid*"},
            {launching("config", R"({"metrics_server":"host"})"),
             "argument config.metrics_server is invalid*"},
            {launching("config", R"({"metrics_server":"host:80,tls"})"),
             "argument config.metrics_server is invalid*"},
            {launching("config", R"({"features":[]})"), "argument config.features is invalid*"},
            {launching("config", R"({"disable_watchdog":"no"})"),
             "argument config.disable_watchdog is invalid*"},
            {launching("config", R"({"devmode":0})"), "argument config.devmode is invalid*"},
        });
    for (const char* platform : {"", "null", "swrast", "webrtc"})
        CHECK(launch("config", R"({"platform":")" + std::string(platform) + "\"}").config.platform ==
              platform);
}

TEST_CASE("a launch names its instance and protects it") {
    CHECK(launch("name", "\"web-1\"").name == "web-1");
    CHECK(launch("name", "\"\"").name.empty());
    CHECK(launch_refusal("name", "\"a b\"").starts_with("argument name is invalid: "));
    CHECK(launch_refusal("name", "\"c08p730j1qm6t2783da0\"") ==
          "argument name is invalid: must not look like an id");
    CHECK(launch("config", R"({"security": {"delete_protected": true}})").config.delete_protected);
    CHECK(launch("config", R"({"security.delete_protected": true})").config.delete_protected);
    for (const char* config : {"{}", R"({"security": {}})", R"({"security": null})",
                               R"({"security": {"delete_protected": false}})"})
        CHECK_FALSE(launch("config", config).config.delete_protected);
    CHECK(launch_refusal("config", R"({"security": {"delete_protected": "yes"}})") ==
          "argument config.security.delete_protected is invalid: must be true or false");
    CHECK(launch_refusal("config", R"({"security": true})") ==
          "argument config.security is invalid: must be an object");
}

TEST_CASE("a launch and a change say when the instance is deleted by itself") {
    using namespace std::chrono_literals;
    const LifetimeWish never = launch("name", "\"web-1\"").lifetime;
    CHECK(never.empty());
    CHECK(launch("expires_after", "\"1h30m\"").lifetime.expires_after == 90min);
    CHECK(launch("expires_after", "\"1s\"").lifetime.expires_after == 1s);
    CHECK(launch("idle_after", "\"1m\"").lifetime.idle_after == 1min);
    CHECK(launch("idle_after", "\"never\"").lifetime.idle_after == Duration(0));
    CHECK(launch("idle_after", "null").lifetime.empty());
    CHECK(launch_refusal("expires_after", "\"0s\"") ==
          "argument expires_after is invalid: must be from 1s to 87600h");
    CHECK(launch_refusal("expires_after", "\"0\"") ==
          "argument expires_after is invalid: must be from 1s to 87600h");
    CHECK(launch_refusal("idle_after", "\"59s\"") ==
          "argument idle_after is invalid: must be from 1m to 87600h");
    CHECK(launch_refusal("idle_after", "\"87601h\"") ==
          "argument idle_after is invalid: must be from 1m to 87600h");
    for (const char* text : {"-1h", "", "soon", "99999999999h", "2"})
        CHECK(launch_refusal("expires_after", Json(text).dump()) ==
              "argument expires_after is invalid: '" + std::string(text) +
                  "' is neither a duration (90s, 2h, 1h30m) nor never");
    CHECK(launch_refusal("expires_after", "3600") == "argument expires_after is invalid: must be a string");
}

TEST_CASE("a wish for a lifetime changes what it names") {
    using namespace std::chrono_literals;
    const Time now = from_rfc3339("2024-01-02T03:04:05Z");
    const Lifetime both = LifetimeWish{2h, 30min}.applied_to({}, now);
    CHECK(both == Lifetime{now + 2h, 30min, now});
    CHECK(LifetimeWish{1h, {}}.applied_to(both, now + 1h) == Lifetime{now + 2h, 30min, now});
    CHECK(LifetimeWish{{}, 10min}.applied_to(both, now + 1h) == Lifetime{now + 2h, 10min, now + 1h});
    CHECK(LifetimeWish{Duration(0), Duration(0)}.applied_to(both, now + 1h) == Lifetime{});
    CHECK_FALSE(Lifetime{}.is_limited());
}

TEST_CASE("a change of an instance is a status, its protection or its lifetime") {
    const auto patch = [](const char* body) { return InstancePatch::from_json(Json::parse(body)); };
    CHECK(patch(R"({"desired_status": "stopped", "config": {"security": {}}})").desired_status == "stopped");
    CHECK(patch(R"({"desired_status": null, "config": {"security": {"delete_protected": false}}})")
              .delete_protected == false);
    CHECK(patch(R"({"config": {"security.delete_protected": true}})").delete_protected == true);
    for (const char* body : {"{}", R"({"config": {}})"})
        CHECK(message_of([&] { patch(body); }) ==
              "desired_status, config.security.delete_protected, expires_after or idle_after is required");
    CHECK(message_of([&] {
              patch(R"({"desired_status": "running", "config": {"security": {"delete_protected": true}}})");
          }) == "argument config is invalid: cannot be given together with desired_status");
    CHECK(patch(R"({"expires_after": "2h"})").lifetime.expires_after == std::chrono::hours(2));
    CHECK(message_of([&] { patch(R"({"desired_status": "running", "idle_after": "2h"})"); }) ==
          "argument idle_after is invalid: cannot be given together with desired_status");
    CHECK(message_of([&] {
              patch(R"({"expires_after": "2h", "config": {"security": {"delete_protected": true}}})");
          }) == "argument expires_after is invalid: cannot be given together with config");
}

TEST_CASE("services of a launch are checked") {
    test::check_codec(
        InstanceCreate::from_json,
        {{launching("services", "[" + std::string(R"({"protocols":["tcp"]})") + "]"),
          "services[0].port is required"},
         {launching("services", "[" + std::string(R"({"port":0,"protocols":["tcp"]})") + "]"),
          "argument services[0].port is invalid: must be from 1 to 65535"},
         {launching("services", "[" + std::string(R"({"port":65536,"protocols":["tcp"]})") + "]"),
          "argument services[0].port is invalid: must be from 1 to 65535"},
         {launching("services", "[" + std::string(R"({"port":"22","protocols":["tcp"]})") + "]"),
          "argument services[0].port is invalid: must be a 64-bit integer"},
         {launching("services", "[" + std::string(R"({"port":22})") + "]"),
          "services[0].protocols is required"},
         {launching("services", "[" + std::string(R"({"port":22,"protocols":[]})") + "]"),
          "services[0].protocols is required"},
         {launching("services", "[" + std::string(R"({"port":22,"protocols":["sctp"]})") + "]"),
          "argument services[0].protocols is invalid: must be tcp or udp"},
         {launching("services", "[" + std::string(R"({"port":22,"port_end":21,"protocols":["tcp"]})") + "]"),
          "argument services[0].port_end is invalid: must not be below port"},
         {launching("services",
                    "[" + std::string(R"({"port":22,"port_end":65536,"protocols":["tcp"]})") + "]"),
          "argument services[0].port_end is invalid: must be from 1 to 65535"},
         {launching("services", "[" + std::string(R"({"port":22,"protocols":["tcp"],"expose":1})") + "]"),
          "argument services[0].expose is invalid: must be true or false"},
         {launching("services", "[" + std::string(R"({"port":22,"protocols":["tcp"],"name":"A"})") + "]"),
          "argument services[0].name is invalid: only lower-case letters, digits and - are allowed, - not "
          "first"},
         {launching("services", R"([{"port":1,"protocols":["tcp"]},{"port":1,"protocols":["tcp"]}])"),
          "argument services[1].port is invalid: overlaps with services[0]"}});
}

TEST_CASE("user data has at most 10240 bytes") {
    CHECK(launch("user_data", '"' + std::string(10240, 'x') + '"').user_data.size() == 10240);
    CHECK(launch_refusal("user_data", '"' + std::string(10241, 'x') + '"') ==
          "length of user_data is invalid");
}

TEST_CASE("exec") {
    const ExecRequest request = ExecRequest::from_json(Json::parse(
        R"({"command":["sh","-c",""],"environment":{"A":"1","B":""},"interactive":true,"width":120,"height":40,"user":7})"));
    CHECK(request.command == std::vector<std::string>{"sh", "-c", ""});
    CHECK(request.environment == std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", ""}});
    CHECK(request.interactive);
    CHECK(request.width == 120);
    CHECK(request.height == 40);
    const ExecRequest least =
        ExecRequest::from_json(Json::parse(R"({"command":["true"],"width":0,"environment":null})"));
    CHECK(least.width == 80);
    CHECK(least.height == 24);
    CHECK_FALSE(least.interactive);
}

TEST_CASE("an exec that cannot be run is refused") {
    test::check_codec(
        ExecRequest::from_json,
        {
            {"{}", "command is required*"},
            {R"({"command":[]})", "command is required*"},
            {R"({"command":[""]})", "command is required*"},
            {R"({"command":"sh"})", "argument command is invalid*"},
            {R"({"command":["a",1]})", "argument command[1] is invalid*"},
            {R"({"command":["a\u0000b"]})", "argument command[0] is invalid*"},
            {R"({"command":["a"],"environment":[]})", "argument environment is invalid*"},
            {R"({"command":["a"],"environment":{"A":1}})", "argument environment.A is invalid*"},
            {R"({"command":["a"],"environment":{"":"1"}})", "argument environment is invalid*"},
            {R"({"command":["a"],"environment":{"A=B":"1"}})", "argument environment is invalid*"},
            {R"({"command":["a"],"environment":{"A":"\u0000"}})", "argument environment.A is invalid*"},
            {R"({"command":["a"],"interactive":"yes"})", "argument interactive is invalid*"},
            {R"({"command":["a"],"width":-1})", "argument width is invalid*"},
            {R"({"command":["a"],"height":65536})", "argument height is invalid*"},
        });
}

}  // namespace
}  // namespace svc

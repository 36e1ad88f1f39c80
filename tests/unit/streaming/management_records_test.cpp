#include "libsvc/streaming/regions/management_records.h"

#include <catch2/catch.hpp>

#include "libsvc/model/packages/application.h"

using namespace svc;
using Names = std::vector<std::string>;

namespace {

Json application(std::string_view status, bool published, std::string_view version_status) {
    return Json::object(
        {{"name", "candy"},
         {"status", status},
         {"versions", Json::array({Json::object(
                          {{"number", 0}, {"published", published}, {"status", version_status}})})}});
}

Names launchable(const Json& record) {
    Names names;
    for (const auto& found : launchable_applications({record}, {})) names.push_back(found.name);
    return names;
}

Json version(int number, std::string_view addons) {
    return Json::object(
        {{"number", number}, {"published", true}, {"status", "active"}, {"addons", Json::parse(addons)}});
}

}  // namespace

TEST_CASE("a session's launch names application, platform, tag and user data") {
    StreamLaunch launch{"s1", "candy", 3, Json::object({{"fps", 60}})};
    CHECK(launch_payload(launch, "influxdb:10.0.0.1:8095,raw").dump() ==
          R"({"app_id":"candy","user_data":"{\"fps\":60}","config":{"platform":"webrtc",)"
          R"("metrics_server":"influxdb:10.0.0.1:8095,raw"},"tags":["session=s1"],"app_version":3})");
    launch.app_version.reset();
    CHECK(launch_payload(launch, "").find("app_version") == nullptr);
    CHECK(launch_payload(launch, "").at("config").find("metrics_server") == nullptr);
}

TEST_CASE("applications are listed that have a published version which is ready") {
    CHECK(launchable(application("ready", true, "active")) == Names{"candy"});
    CHECK(launchable(application("initializing", true, "active")) == Names{"candy"});
    CHECK(launchable(application("ready", false, "active")).empty());
    CHECK(launchable(application("error", true, "error")).empty());
    CHECK(launchable(application("deleted", true, "active")).empty());
    CHECK(launchable(Json::object({{"name", "new"}, {"status", "ready"}, {"versions", Json()}})).empty());
}

TEST_CASE("a version streams that has one of the addons with a streamer") {
    const Json record = Json::object(
        {{"name", "candy"},
         {"status", "ready"},
         {"versions",
          Json::array({version(3, R"([{"name":"greeting","version":0},{"name":"svc-streamer","version":3}])"),
                       version(4, R"([{"name":"greeting","version":0}])"), version(7, "null")})}});
    const auto versions = [&](const Names& streamers) {
        return launchable_applications({record}, streamers).at(0).versions;
    };
    using Versions = std::map<int, bool>;
    CHECK(versions({"svc-streamer"}) == Versions{{3, true}, {4, false}, {7, false}});
    CHECK(versions({"other", "greeting"}) == Versions{{3, true}, {4, true}, {7, false}});
    CHECK(versions({}) == Versions{{3, true}, {4, true}, {7, true}});
}

TEST_CASE("what the service tells of an application says which of its versions stream") {
    PackageRef streamer;
    streamer.name = "svc-streamer";
    ApplicationVersion with, without;
    with.status = without.status = ImageStatus::active;
    with.published = without.published = true;
    with.packages = {streamer};
    without.number = 1;
    Application candy;
    candy.name = "candy";
    candy.versions = {with, without};
    const auto found = launchable_applications({to_json(candy)}, {"svc-streamer"});
    CHECK(found.at(0).versions == std::map<int, bool>{{0, true}, {1, false}});
}

TEST_CASE("an older service names the addons of a version alone") {
    const Json record =
        Json::object({{"name", "candy"},
                      {"status", "ready"},
                      {"versions", Json::array({version(3, R"(["greeting","svc-streamer"])")})}});
    CHECK(launchable_applications({record}, {"svc-streamer"}).at(0).streams());
    CHECK_FALSE(launchable_applications({record}, {"other"}).at(0).streams());
}

TEST_CASE("an application whose image has a streamer of its own streams by its tag") {
    const auto streams = [](std::string_view tags) {
        Json record = application("ready", true, "active");
        record.set("tags", Json::parse(tags));
        return launchable_applications({record}, {"svc-streamer"}).at(0).streams();
    };
    CHECK(streams(R"(["games","streams"])"));
    CHECK_FALSE(streams(R"(["streams=no"])"));
    CHECK_FALSE(streams("null"));
}

TEST_CASE("the newest version tells whether an application streams, or the one that is named") {
    const StreamApplication candy{"candy", {{3, true}, {7, false}}};
    CHECK_FALSE(candy.streams());
    CHECK(candy.streams(3));
    CHECK_FALSE(candy.streams(7));
    CHECK(candy.streams(9));  // is not there
}

TEST_CASE("nodes that take no instances do not count") {
    const auto node = [](std::string_view status, bool closed) {
        return Json::object({{"status", status}, {"unschedulable", closed}, {"cpus", 4}});
    };
    CHECK(region_load(
              {node("online", false), node("online", true), node("offline", false), node("online", false)})
              .cpus == 8);
    CHECK(region_load({}).cpus == 0);
}

TEST_CASE("an instance's session is in its tag") {
    const auto record =
        Json::parse(R"({"id":"i1","status":"error","error_message":"no room","tags":["a","session=s1"]})");
    const auto instance = stream_instance(record);
    CHECK(instance.id == "i1");
    CHECK(instance.session == "s1");
    CHECK(instance.status == "error");
    CHECK(instance.error_message == "no room");
    CHECK(stream_instance(Json::parse(R"({"id":"i2","status":"running","tags":null})")).session.empty());
}

TEST_CASE("only an operation that failed has a reason, and one without words has the status") {
    const auto failure = [](int code, std::string_view error) {
        return failure_of_operation(Json::object({{"status_code", code}, {"err", error}}));
    };
    CHECK(failure(400, "no room") == "no room");
    CHECK(failure(400, "") == "Failure");
    CHECK(failure(401, "Operation cancelled").empty());
    CHECK(failure(200, "").empty());
    CHECK(failure(103, "").empty());
}

TEST_CASE("events name the instances they are about") {
    const auto ids = [](const char* text) { return instances_in_event(Json::parse(text)); };
    CHECK(
        ids(R"({"type":"lifecycle","metadata":{"action":"container-running","source":"/1.0/containers/i1"}})") ==
        Names{"i1"});
    CHECK(ids(R"({"type":"operation","metadata":{"status_code":400,"resources":
              {"containers":["/1.0/containers/i1"],"instances":["/1.0/instances/i1"]}}})") == Names{"i1"});
    CHECK(ids(R"({"type":"operation","metadata":{"status_code":103,"resources":
              {"instances":["/1.0/instances/i1"]}}})")
              .empty());
    CHECK(ids(R"({"type":"operation","metadata":{"status_code":200,"resources":null}})").empty());
    CHECK(ids(R"({"type":"gap","metadata":{"since":1,"first":5,"last":9}})") == Names{""});
    CHECK(ids(R"({"type":"logging","metadata":{"message":"x"}})").empty());
}

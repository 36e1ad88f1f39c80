#include "instance-agent/agent/devices/stream/stream_device.h"

#include "instance-agent/agent/devices/sensors/sensors_device.h"
#include "tests/agent/devices/device_place.h"

using namespace svc;
using namespace svc::test;

namespace {

struct StreamDeviceWorld : DevicePlace {
    explicit StreamDeviceWorld(const std::string& name = "webrtc") {
        platform = name;
        platform_device = std::make_unique<agent::PlatformDevice>(context(), link);
        device = std::make_unique<agent::StreamDevice>(link, *platform_device, false);
        caller.emplace(*device);
        items.emplace(*platform_device);
    }
    bool stream_active() const { return platform_device->value("stream_active") == Json(true); }
    Json attach(const std::shared_ptr<ListeningGuest>& guest) const {
        return caller->op(guest, "stream.attach");
    }
    Json state(const std::shared_ptr<ListeningGuest>& guest, bool active) const {
        return caller->op(guest, "stream.state", Json::object({{"active", active}}).dump());
    }

    std::unique_ptr<agent::PlatformDevice> platform_device;
    std::unique_ptr<agent::StreamDevice> device;
    std::optional<DeviceCaller> caller, items;
    std::shared_ptr<ListeningGuest> first = std::make_shared<ListeningGuest>(1);
    std::shared_ptr<ListeningGuest> second = std::make_shared<ListeningGuest>(2);
    std::shared_ptr<ListeningGuest> app = std::make_shared<ListeningGuest>(3, false);
};

const agent::OpenCamera camera{7, "0", "rear", 640, 480, 15};

}  // namespace

TEST_CASE("a streamer is told what is in use, and what changes from then on") {
    StreamDeviceWorld world;
    world.link.sensor("light", true);
    world.link.camera_opened(camera);
    CHECK(world.attach(world.first) ==
          Json::parse(R"({"rtc_log":false,"clipboard_to_instance":true,"clipboard_from_instance":true,)"
                      R"("files_to_instance":true,"files_from_instance":true,)"
                      R"("bitrate_min_kbps":2500,"bitrate_max_kbps":5000,)"
                      R"("active_sensors":["light"],"cameras":[{"handle":7,"camera":"0","width":640,)"
                      R"("height":480,"fps":15,"facing":"rear"}],"automotive":false})"));
    world.link.sensor("light", true);
    CHECK(world.first->messages() == 0);
    world.link.sensor("light", false);
    world.link.camera_closed(7);
    world.link.camera_closed(7);
    CHECK(world.first->message(0) ==
          Json::parse(R"({"event":"stream.sensor","type":"light","active":false})"));
    CHECK(world.first->message(1) ==
          Json::parse(R"({"event":"stream.camera","open":false,"handle":7,"camera":"0","width":640,)"
                      R"("height":480,"fps":15,"facing":"rear"})"));
    CHECK(world.first->messages() == 2);
}

TEST_CASE("a changed item is told with all of them") {
    StreamDeviceWorld world;
    world.attach(world.first);
    REQUIRE(world.items->outcome(Method::patch, "/1.0/platform",
                                 R"({"config":{"rtc_log":true,"stream_video_bitrate_max_kbps":6000}})") ==
            "200");
    CHECK(world.first->message(0) ==
          Json::parse(R"({"event":"stream.items","rtc_log":true,"clipboard_to_instance":true,)"
                      R"("clipboard_from_instance":true,"files_to_instance":true,)"
                      R"("files_from_instance":true,"bitrate_min_kbps":2500,)"
                      R"("bitrate_max_kbps":6000})"));
    REQUIRE(world.items->outcome(Method::delete_, "/1.0/platform", R"({"configs":["rtc_log"]})") == "200");
    CHECK(world.first->message(1).at("rtc_log") == Json(false));
    CHECK(world.items->outcome(Method::patch, "/1.0/platform", R"({"config":{"rtc_log":3}})") != "200");
    CHECK(world.first->messages() == 2);
}

TEST_CASE("only who may control becomes the streamer, and only the streamer tells of the stream") {
    StreamDeviceWorld world;
    CHECK(world.attach(world.app) == Json("permission denied"));
    CHECK(world.state(world.first, true) == Json("not the streamer"));
    CHECK_FALSE(world.stream_active());
    world.attach(world.first);
    CHECK(world.state(world.app, true) == Json("not the streamer"));
    CHECK(world.caller->op(world.first, "stream.state") == Json("Missing field 'active'"));
    CHECK(world.caller->op(world.first, "stream.state", R"({"active":1})") ==
          Json("Invalid value for field 'active'"));
    CHECK_FALSE(world.stream_active());
    world.state(world.first, true);
    CHECK(world.stream_active());
    world.state(world.first, false);
    CHECK_FALSE(world.stream_active());
}

TEST_CASE("the streamer that attaches last is the one") {
    StreamDeviceWorld world;
    world.attach(world.first);
    world.state(world.first, true);
    world.attach(world.first);
    CHECK(world.stream_active());
    CHECK(world.first->messages() == 0);
    world.attach(world.second);
    CHECK(world.first->message(0) == Json::parse(R"({"event":"stream.detached"})"));
    CHECK_FALSE(world.stream_active());
    CHECK(world.state(world.first, true) == Json("not the streamer"));
    world.state(world.second, true);
    world.caller->leave(world.first);
    CHECK(world.stream_active());
    world.link.sensor("light", true);
    CHECK(world.second->message(0).at("event") == Json("stream.sensor"));
    CHECK(world.first->messages() == 1);
}

TEST_CASE("the stream ends with its streamer") {
    StreamDeviceWorld world;
    world.attach(world.first);
    world.state(world.first, true);
    world.caller->leave(world.first);
    CHECK_FALSE(world.stream_active());
    world.link.sensor("light", true);
    CHECK(world.first->messages() == 0);
    CHECK(world.state(world.first, true) == Json("not the streamer"));
    CHECK(world.attach(world.second).at("active_sensors") == Json::array({"light"}));
}

TEST_CASE("a guest's wish for a keyboard reaches the streamer") {
    StreamDeviceWorld world;
    CHECK(world.caller->op(world.app, "ime.show") == Json("nobody watches"));
    world.attach(world.first);
    CHECK(world.caller->op(world.app, "ime.show") == Json::object());
    CHECK(world.caller->op(world.app, "ime.hide") == Json::object());
    CHECK(world.first->message(0) == Json::parse(R"({"event":"stream.ime","visible":true})"));
    CHECK(world.first->message(1) == Json::parse(R"({"event":"stream.ime","visible":false})"));
}

TEST_CASE("a platform without items streams with the streamer's own") {
    StreamDeviceWorld world("null");
    const Json answer = world.attach(world.first);
    CHECK(answer.at("rtc_log") == Json(false));
    CHECK(answer.at("bitrate_min_kbps") == Json(0));
    CHECK(answer.at("bitrate_max_kbps") == Json(0));
}

TEST_CASE("a sensor is in use until its last user leaves it") {
    StreamDeviceWorld world;
    agent::SensorsDevice sensors(world.context(), world.tracer, world.link);
    const DeviceCaller caller(sensors);
    world.attach(world.first);
    const auto activate = [&](const std::shared_ptr<ListeningGuest>& guest, bool on) {
        caller.op(guest, "sensors.activate", Json::object({{"type", "pressure"}, {"on", on}}).dump());
    };
    activate(world.second, true);
    activate(world.app, true);
    activate(world.second, false);
    CHECK(world.first->messages() == 1);
    caller.leave(world.app);
    CHECK(world.first->message(0).at("active") == Json(true));
    CHECK(world.first->message(1) ==
          Json::parse(R"({"event":"stream.sensor","type":"pressure","active":false})"));
}

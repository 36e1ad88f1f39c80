#include "instance-agent/agent/devices/platform/platform_device.h"

#include "instance-agent/shared/display_settings.h"
#include "tests/agent/devices/device_place.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string platform_path = "/1.0/platform";

struct PlatformWorld : DevicePlace {
    explicit PlatformWorld(std::string name = "webrtc") {
        platform = std::move(name);
        restart();
    }
    void restart() {
        device = std::make_unique<agent::PlatformDevice>(context(), link);
        caller.emplace(*device);
    }
    Json item(const std::string& name) const { return caller->metadata(platform_path).at("config").at(name); }
    std::string patch(const std::string& body) const {
        return caller->outcome(Method::patch, platform_path, body);
    }
    std::string reset(const std::string& body) const {
        return caller->outcome(Method::delete_, platform_path, body);
    }

    std::unique_ptr<agent::PlatformDevice> device;
    std::optional<DeviceCaller> caller;
};

}  // namespace

TEST_CASE("each platform has its items") {
    CHECK(PlatformWorld("").caller->metadata(platform_path) == Json::parse(R"({"name":"null","config":{}})"));
    CHECK(PlatformWorld("webrtc").caller->metadata(platform_path) ==
          Json::parse(R"({"name":"webrtc","config":{"rtc_log":false,"stream_active":false,)"
                      R"("clipboard_to_instance":true,"clipboard_from_instance":true,)"
                      R"("files_to_instance":true,"files_from_instance":true,)"
                      R"("stream_video_bitrate_min_kbps":2500,"stream_video_bitrate_max_kbps":5000}})"));
    CHECK(PlatformWorld("swrast").caller->metadata(platform_path).at("name") == Json("swrast"));
}

TEST_CASE("platform and user data decide the display") {
    const auto display = [](const char* platform, const char* user_data) {
        const auto shown = agent::read_display_settings(platform, user_data);
        return std::vector<std::uint32_t>{shown.width, shown.height, shown.fps, shown.density};
    };
    using Numbers = std::vector<std::uint32_t>;
    const char* const object = R"({"display_width":801,"display_height":600,"fps":30,"display_density":320})";
    CHECK(display("webrtc", object) == Numbers{802, 600, 30, 320});
    CHECK(display("null", object) == Numbers{802, 600, 30, 320});
    CHECK(display("webrtc", "") == Numbers{1280, 720, 60, 240});
    CHECK(display("webrtc", "800,600") == Numbers{1280, 720, 60, 240});
    CHECK(display("", "") == Numbers{1280, 720, 60, 160});
    CHECK(display("null", "800,600\n") == Numbers{800, 600, 60, 160});
    CHECK(display("swrast", "800, 600, 30, 320") == Numbers{800, 600, 30, 320});
    for (const char* other : {"800", "800,x", "1,2,3,4,5", "-1,5", "[800,600]", "\"800,600\""})
        CHECK(display("swrast", other) == Numbers{1280, 720, 60, 160});
    CHECK(display("swrast", "99999,600,0,1") == Numbers{1280, 600, 60, 160});
    CHECK(display("webrtc", R"({"display_width":"800","fps":1e9,"display_height":null})") ==
          Numbers{1280, 720, 60, 240});
}

TEST_CASE("items are set together or not at all") {
    PlatformWorld world;
    CHECK(world.patch(R"({"config":{"rtc_log":true,"nothing":1}})") ==
          "400 Unknown configuration item 'nothing'");
    CHECK(world.patch(R"({"config":{"rtc_log":true,"stream_active":true}})") ==
          "400 Configuration item 'stream_active' is read-only");
    CHECK(world.patch(R"({"config":{"rtc_log":1}})") == "400 Invalid value for configuration item 'rtc_log'");
    CHECK(world.patch(R"({"config":{"rtc_log":true,"stream_video_bitrate_min_kbps":4294967296}})") ==
          "400 Invalid value for configuration item 'stream_video_bitrate_min_kbps'");
    CHECK(world.patch(R"({"config":{"stream_video_bitrate_min_kbps":6000}})") ==
          "400 Invalid value for configuration item 'stream_video_bitrate_min_kbps'");
    CHECK(world.patch(R"({"config":{}})") == "400 No configuration items provided");
    CHECK(world.patch(R"({"config":[]})") == "400 Invalid value for field 'config'");
    CHECK(world.patch("{}") == "400 Missing field 'config'");
    CHECK(world.patch("[]") == "400 Request body must be an object");
    CHECK(world.item("rtc_log") == Json(false));
    CHECK(world.patch(
              R"({"config":{"stream_video_bitrate_min_kbps":6000,"stream_video_bitrate_max_kbps":8000}})") ==
          "200");
    CHECK(world.item("stream_video_bitrate_min_kbps") == Json(6000));
}

TEST_CASE("items are reset to their defaults") {
    PlatformWorld world;
    REQUIRE(world.patch(R"({"config":{"rtc_log":true,"stream_video_bitrate_min_kbps":6000,)"
                        R"("stream_video_bitrate_max_kbps":8000}})") == "200");
    CHECK(world.reset(R"({"configs":["rtc_log","stream_active"]})") ==
          "400 Configuration item 'stream_active' is read-only");
    CHECK(world.reset(R"({"configs":["stream_video_bitrate_max_kbps"]})") ==
          "400 Invalid value for configuration item 'stream_video_bitrate_max_kbps'");
    CHECK(world.reset(R"({"configs":["x"]})") == "400 Unknown configuration item 'x'");
    CHECK(world.reset(R"({"configs":[]})") == "400 No configuration items provided");
    CHECK(world.reset(R"({"configs":[1]})") == "400 Invalid value for field 'configs'");
    CHECK(world.item("rtc_log") == Json(true));
    CHECK(world.reset(R"({"configs":["rtc_log"]})") == "200");
    CHECK(world.item("rtc_log") == Json(false));
}

TEST_CASE("what was set outlives the agent, what cannot be kept is not set") {
    PlatformWorld world;
    REQUIRE(world.patch(R"({"config":{"rtc_log":true}})") == "200");
    world.restart();
    CHECK(world.item("rtc_log") == Json(true));
    CHECK(world.device->value("rtc_log") == Json(true));
    const auto file = world.context().state() / "platform.json";
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    CHECK(world.reset(R"({"configs":["rtc_log"]})").substr(0, 3) == "500");
    CHECK(world.item("rtc_log") == Json(true));
    std::filesystem::remove(file);
    world.write(file, R"({"scope":"","state":{"rtc_log":3,"stream_active":true,"other":1}})");
    world.restart();
    CHECK(world.item("rtc_log") == Json(false));
    CHECK(world.item("stream_active") == Json(false));
}

TEST_CASE("the one who streams says so") {
    PlatformWorld world;
    world.device->set_stream_active(true);
    CHECK(world.item("stream_active") == Json(true));
    CHECK(world.device->value("unknown") == Json());
}

TEST_CASE("bitrates follow the size of the display") {
    PlatformWorld world;
    const auto bitrates = [&](const std::string& user_data) {
        world.write(world.paths.data / "userdata", user_data);
        world.restart();
        return std::pair(world.item("stream_video_bitrate_min_kbps").as_int(),
                         world.item("stream_video_bitrate_max_kbps").as_int());
    };
    CHECK(bitrates(R"({"display_width":1280,"display_height":720,"fps":30})") ==
          std::pair<std::int64_t, std::int64_t>(1000, 3000));
    CHECK(bitrates(R"({"display_width":1281,"display_height":720,"fps":60})") ==
          std::pair<std::int64_t, std::int64_t>(3000, 7000));
    CHECK(bitrates(R"({"display_width":8000,"display_height":4000,"fps":10})") ==
          std::pair<std::int64_t, std::int64_t>(3000, 6000));
    CHECK(bitrates("#!/bin/sh") == std::pair<std::int64_t, std::int64_t>(2500, 5000));
    world.write(world.paths.data / "streamer.json",
                R"({"video":{"bitrate_limits":[{"num_pixels":1,"fps":1,"min_kbps":10,"max_kbps":20}]}})");
    CHECK(bitrates("") == std::pair<std::int64_t, std::int64_t>(10, 20));
    world.write(world.paths.data / "streamer.json",
                R"({"video":{"bitrate_limits":[{"num_pixels":1,"fps":1,"min_kbps":30,"max_kbps":20}]}})");
    CHECK(bitrates("") == std::pair<std::int64_t, std::int64_t>(2500, 5000));
}

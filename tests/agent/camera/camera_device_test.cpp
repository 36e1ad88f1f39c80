#include <fcntl.h>
#include <sys/stat.h>

#include <regex>
#include <set>

#include "tests/agent/camera/camera_place.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string info_of(const CameraPlace& place) {
    const Json info = place.caller->metadata(CameraPlace::path);
    return std::string(info.at("enabled").as_bool() ? "enabled" : "disabled") +
           (info.at("data_available").as_bool() ? ", data" : "");
}

}  // namespace

TEST_CASE("the camera is disabled at first and tells its sizes") {
    CameraPlace place;
    CHECK(place.caller->metadata(CameraPlace::path) ==
          Json::parse(R"({"data_available":false,"enabled":false,"resolutions":[{"width":1280,"height":720},)"
                      R"({"width":1920,"height":1080},{"width":640,"height":480}]})"));
}

TEST_CASE("each camera route answers in each state") {
    CameraPlace place;
    const std::string image = plain_jpeg(640, 480, red);
    CHECK(place.post_image(image) == "400 Camera support is not enabled");
    CHECK(place.post_image("") == "400 Camera support is not enabled");
    CHECK(place.caller->outcome(Method::delete_, CameraPlace::data) == "200");
    CHECK(place.caller->ask(Method::post, CameraPlace::path, R"({"enable":false})").find("metadata") ==
          nullptr);
    place.toggle(true);
    CHECK(info_of(place) == "enabled");
    CHECK(place.caller->outcome(Method::delete_, CameraPlace::data) == "200");
    CHECK(place.post_image("") == "400 Image data is empty");
    CHECK(place.post_image("x") == "400 Image is not a valid JPEG");
    CHECK(place.post_image(plain_jpeg(16, 16, red)) == "400 Image size 16x16 is not supported");
    CHECK(info_of(place) == "enabled");
    CHECK(place.post_image(image) == "201");
    CHECK(place.post_image(image) == "201");
    CHECK(place.post_image("x") == "400 Image is not a valid JPEG");
    CHECK(info_of(place) == "enabled, data");
    CHECK(place.caller->outcome(Method::delete_, CameraPlace::data) == "200");
    CHECK(info_of(place) == "enabled");
    CHECK(place.post_image(image) == "201");
    place.toggle(false);
    CHECK(info_of(place) == "disabled");
    place.toggle(true);
    CHECK(info_of(place) == "enabled");
}

TEST_CASE("a switch without a good body changes nothing") {
    CameraPlace place;
    const std::string body = GENERATE("", "[]", "{", "null", "{}", R"({"enable":1})", R"({"enable":null})",
                                      R"({"enable":"true"})");
    CHECK(place.caller->outcome(Method::post, CameraPlace::path, body).substr(0, 4) == "400 ");
    CHECK(info_of(place) == "disabled");
}

TEST_CASE("the video socket is another one after each toggle") {
    CameraPlace place;
    const std::string first = place.toggle(true);
    CHECK(
        std::regex_match(first, std::regex(place.sockets().native() + "/camera_video_stream_[0-9a-f]{10}")));
    CHECK(place.toggle(true) == first);
    struct stat status {};
    REQUIRE(::stat(first.c_str(), &status) == 0);
    CHECK(S_ISSOCK(status.st_mode));
    CHECK((status.st_mode & 0777) == 0660);
    place.toggle(false);
    CHECK_FALSE(std::filesystem::exists(first));
    const std::string second = place.toggle(true);
    CHECK(second != first);
    CHECK(VideoWriter(second).connected());
}

TEST_CASE("an agent that comes back has its camera enabled, and no dead sockets") {
    CameraPlace place;
    place.toggle(true);
    place.device.reset();
    const auto dead = place.sockets() / "camera_video_stream_0123456789";
    {
        const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        dead.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    }
    place.start();
    CHECK(info_of(place) == "enabled");
    CHECK_FALSE(std::filesystem::exists(dead));
    CHECK(std::filesystem::exists(place.toggle(true)));
    place.device.reset();
    place.start_instance(2);
    place.start();
    CHECK(info_of(place) == "disabled");
}

TEST_CASE("a camera is opened once and as it can be") {
    CameraPlace place;
    const auto other = std::make_shared<CameraGuest>(2);
    CHECK(place.op(other, "camera.list", "{}") ==
          Json::parse(
              R"({"cameras":[{"id":"0","facing":"rear","resolutions":[{"width":1280,"height":720},)"
              R"({"width":1920,"height":1080},{"width":640,"height":480}],"fps":60,"formats":["rgba"]}]})"));
    const auto refused = [&](const std::string& request) { return place.op(other, "camera.open", request); };
    CHECK(refused(R"({"width":640,"height":480})") == Json("Missing field 'camera'"));
    CHECK(refused(R"({"camera":"1","width":640,"height":480})") == Json("unknown camera '1'"));
    CHECK(refused(R"({"camera":"0","width":640})") == Json("Missing field 'height'"));
    CHECK(refused(R"({"camera":"0","width":480,"height":640})") == Json("size 480x640 is not supported"));
    CHECK(refused(R"({"camera":"0","width":640,"height":480,"fps":0})") ==
          Json("Invalid value for field 'fps'"));
    CHECK(refused(R"({"camera":"0","width":640,"height":480,"fps":61})") ==
          Json("Invalid value for field 'fps'"));
    const Json answer = place.open(640, 480);
    CHECK(answer.at("width") == Json(640));
    CHECK(answer.at("stride") == Json(2560));
    CHECK(answer.at("format") == Json("rgba"));
    CHECK(answer.at("slots").as_int() >= 3);
    CHECK(refused(R"({"camera":"0","width":640,"height":480})") == Json("camera busy"));
    const std::string handle = R"({"handle":)" + std::to_string(place.handle) + "}";
    CHECK(place.op(other, "camera.close", handle) == Json("camera is not open"));
    place.feature.closed(other);
    CHECK(refused(R"({"camera":"0","width":640,"height":480})") == Json("camera busy"));
    CHECK(place.op(place.guest, "camera.close", handle) == Json::object());
    CHECK(place.op(place.guest, "camera.close", handle) == Json("camera is not open"));
    CHECK(refused(R"({"camera":"0","width":640,"height":480})").find("handle") != nullptr);
    place.feature.closed(other);
    CHECK(place.open(1280, 720).at("height") == Json(720));
}

TEST_CASE("the guest's memory has a fixed size and cannot be written by it") {
    CameraPlace place;
    place.open(640, 480);
    CHECK(::ftruncate(place.shared.get(), 1) != 0);
    CHECK(::ftruncate(place.shared.get(), 1 << 30) != 0);
    CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, place.shared.get(), 0) == MAP_FAILED);
    CHECK(::write(place.shared.get(), "x", 1) < 0);
}

TEST_CASE("a picture is shown instead of black, until it is taken away") {
    CameraPlace place;
    place.toggle(true);
    place.open(640, 480);
    const SeenFrame frame = place.look();
    CHECK(frame.stream == place.handle);
    CHECK(frame.width == 640);
    CHECK(frame.height == 480);
    CHECK(frame.stride == 2560);
    CHECK(frame.fourcc == 0x41424752);
    CHECK(frame.size == 640 * 480 * 4);
    CHECK(frame.at(0, 0) == black);
    place.give_back(frame);
    REQUIRE(place.post_image(plain_jpeg(640, 480, red)) == "201");
    CHECK(place.shows(red));
    REQUIRE(place.post_image(plain_jpeg(1280, 720, blue)) == "201");
    CHECK(place.shows(blue));
    place.caller->outcome(Method::delete_, CameraPlace::data);
    CHECK(place.shows(black));
}

TEST_CASE("frames are turned as the guest's screen is") {
    CameraPlace place;
    place.toggle(true);
    const auto corner = [](unsigned x, unsigned y) { return x < 100 && y < 100 ? red : green; };
    REQUIRE(place.post_image(make_jpeg(640, 480, corner)) == "201");
    place.turn("portrait");
    const Json answer = place.open(640, 480);
    CHECK(answer.at("width") == Json(480));
    CHECK(answer.at("stride") == Json(480 * 4));
    const SeenFrame portrait = place.look();
    CHECK(portrait.width == 480);
    CHECK(portrait.height == 640);
    CHECK(alike(portrait.at(479, 0), red));
    CHECK(alike(portrait.at(0, 0), green));
    place.turn("reverse-portrait");
    const SeenFrame reverse = place.look();
    CHECK(reverse.height == 640);
    CHECK(alike(reverse.at(0, 639), red));
    place.turn("reverse-landscape");
    const SeenFrame half = place.look();
    CHECK(half.width == 640);
    CHECK(alike(half.at(639, 479), red));
    place.turn("landscape");
    CHECK(alike(place.look().at(0, 0), red));
}

TEST_CASE("only who may control turns the screen, to what there is") {
    CameraPlace place;
    const auto app = std::make_shared<CameraGuest>(9, false);
    const auto ask = [&](const std::shared_ptr<CameraGuest>& who, const std::string& text) {
        const Json request = Json::parse(text);
        place.display.guest_feature().ops.at("display.set_orientation")(who, JsonFields(request));
    };
    CHECK_THROWS_WITH(ask(app, R"({"orientation":"portrait"})"), "permission denied");
    CHECK_THROWS_WITH(ask(place.guest, "{}"), "Missing field 'orientation'");
    CHECK_THROWS_WITH(ask(place.guest, R"({"orientation":"up"})"), "Invalid value for field 'orientation'");
    CHECK(place.display.screen()->orientation() == agent::Orientation::landscape);
}

TEST_CASE("a guest that gives nothing back gets no more frames until it does") {
    CameraPlace place;
    const auto slots = static_cast<std::size_t>(place.open(640, 480).at("slots").as_int());
    std::vector<SeenFrame> held;
    std::set<std::uint32_t> different;
    for (std::size_t i = 0; i < slots; ++i) {
        held.push_back(place.look());
        different.insert(held.back().slot);
    }
    CHECK(different.size() == slots);
    for (int i = 0; i < 5; ++i) place.tick();
    const SeenFrame strange{place.handle, 0, 0, 0, 0, 0, 77, nullptr};
    place.give_back(strange);
    place.give_back(held[1], 3);
    place.feature.binary(std::make_shared<CameraGuest>(2), place.handle, std::string(4, '\0'));
    for (int i = 0; i < 5; ++i) place.tick();
    CHECK(place.guest->frames() == slots);
    place.give_back(held[1]);
    CHECK(place.look().slot == held[1].slot);
    CHECK(place.guest->frames() == slots + 1);
}

TEST_CASE("a frame that has no room in a guest's queue is dropped whole") {
    CameraPlace place;
    place.guest->clogged = true;
    place.open(640, 480);
    for (int i = 0; i < 10; ++i) place.tick();
    place.guest->clogged = false;
    place.tick();
    for (std::size_t i = 0; i < agent::SharedFrames::slots; ++i) place.look();
    CHECK(place.guest->frames() == agent::SharedFrames::slots);
}

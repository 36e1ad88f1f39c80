// Messages between the client and the guest's devices: positions, camera, vibration.
#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

TEST_CASE("a place of the client reaches the guest unless an operator gives one") {
    StreamerPlace place;
    place.connect();
    test::GuestClient guest(place.agent_place.guest_socket);
    guest.hello();
    const std::string update =
        R"({"type":"location::update-position","data":{"time":1,"latitude":48.5,"longitude":11.5,"altitude":5,"speed":0,"bearing":0}})";
    place.control(update);
    REQUIRE(eventually([&] { return place.api_enabled("/1.0/location"); }));
    REQUIRE(eventually([&] {
        const Json fix = guest.ask(R"({"id":2,"op":"location.get"})");
        return fix.at("ok").as_bool() && fix.at("latitude") == Json(48.5);
    }));
    place.control(R"({"type":"stream::disconnect"})");
    REQUIRE(eventually([&] { return !place.api_enabled("/1.0/location"); }));
}

TEST_CASE("values of the clients sensors reach the guest in its units") {
    StreamerPlace place;
    place.connect();
    test::GuestClient guest(place.agent_place.guest_socket);
    guest.hello();
    guest.ask(R"({"id":2,"op":"sensors.activate","type":"gyroscope","on":true,"delay_ms":10})");
    CHECK(place.told("activate-sensor") == Json::object({{"type", "gyroscope"}}));
    place.control(
        R"({"type":"sensor:event","data":{"sensor":"acceleration","x":1,"y":2,"z":3}})");  // not active
    place.control(R"({"type":"sensor:event","data":{"sensor":"gyroscope","x":180,"y":0,"z":-90}})");
    const Json values = guest.receive_json().at("values");
    CHECK(values.as_array()[0].as_double() == Approx(3.14159265));
    CHECK(values.as_array()[2].as_double() == Approx(-1.57079633));
    guest.send_json(R"({"id":3,"op":"sensors.activate","type":"gyroscope","on":false})");
    CHECK(place.told("deactivate-sensor") == Json::object({{"type", "gyroscope"}}));
}

TEST_CASE("vehicle properties are answered in order") {
    StreamerPlace place;
    place.connect();
    place.control(R"({"type":"vhal::get-all-prop-configs"})");
    CHECK(place.told("vhal-prop-configs").as_array().size() > 10);
    place.control(R"({"type":"vhal::get","data":{"prop":286261505,"access":1,"area_configs":[]}})");
    place.control(R"({"type":"vhal::get","data":{"prop":1}})");
    place.control(R"({"type":"vhal::get","data":{"prop":291504388,"area_id":0}})");
    place.control(
        R"({"type":"vhal::set","data":{"prop":286261505,"area_id":0,"status":0,"string_value":"Ours"}})");
    place.control(R"({"type":"vhal::set","data":{"prop":286261505,"area_id":0,"int32_values":[1]}})");
    std::vector<Json> answers;
    REQUIRE(eventually([&] {
        answers.clear();
        for (const std::string& sent : place.peers.all_sent()) {
            const Json message = Json::parse(sent.substr(sent.find('{')));
            if (message.at("type").as_string().ends_with("-answer"))
                answers.push_back(Json::parse(message.at("data").as_string()));
        }
        return answers.size() == 5;
    }));
    CHECK(answers[0].at("prop") == Json(286261505));
    CHECK(answers[0].at("string_value") == Json("Toy Vehicle"));
    CHECK(answers[1].at("prop") == Json(1));
    CHECK(answers[1].at("error") == Json("Unknown property 1"));
    CHECK(answers[2].at("prop") == Json(291504388));
    CHECK(answers[3] == Json::object({{"prop", 286261505}, {"area_id", 0}}));
    CHECK(answers[4].find("error") != nullptr);
}

TEST_CASE("the clients camera is used while a guest has it open") {
    StreamerPlace place;
    place.connect(R"(,"enable_camera":true,"enable_microphone":true)");
    test::GuestClient guest(place.agent_place.guest_socket);
    guest.hello();
    const Json camera = guest.ask(R"({"id":2,"op":"camera.list"})").at("cameras").as_array()[0];
    const Json opened =
        guest.ask(R"({"id":3,"op":"camera.open","width":640,"height":480,"fps":30,"camera":)" +
                  camera.at("id").dump() + "}");
    CHECK(place.told("open-camera").at("resolution") == Json::object({{"width", 640}, {"height", 480}}));
    REQUIRE(eventually([&] {
        std::lock_guard lock(place.peers.mutex);
        return static_cast<bool>(place.peers.camera);
    }));
    CHECK(place.api_enabled("/1.0/camera"));
    const std::vector<std::uint8_t> pixels(640 * 480 * 4, 0x55);
    place.peers.camera(pixels.data(), pixels.size());
    guest.send_json(R"({"id":4,"op":"camera.close","handle":)" + opened.at("handle").dump() + "}");
    place.told("close-camera");
    CHECK(eventually([&] { return !place.api_enabled("/1.0/camera"); }));
}

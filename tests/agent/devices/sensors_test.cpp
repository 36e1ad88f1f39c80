#include "instance-agent/agent/devices/sensors/sensors_device.h"

#include "tests/agent/devices/device_place.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

const std::string sensors_path = "/1.0/sensors";

struct SensorsWorld : DevicePlace {
    SensorsWorld() : device(context(), tracer, link), caller(device) {}
    void enable() const {
        REQUIRE(caller.outcome(Method::post, sensors_path, R"({"enable":true})") == "200");
    }
    std::string patch(const std::string& body) const {
        return caller.outcome(Method::patch, sensors_path, body);
    }
    Json active() const { return caller.metadata(sensors_path).at("active_sensors"); }
    Json activate(const std::shared_ptr<ListeningGuest>& guest, const std::string& type, int delay,
                  bool on = true) const {
        return caller.op(guest, "sensors.activate",
                         Json::object({{"type", type}, {"on", on}, {"delay_ms", delay}}).dump());
    }
    void pass(Duration duration) {
        clock.await_waiters(1);
        clock.advance(duration);
    }

    agent::SensorsDevice device;
    DeviceCaller caller;
    std::shared_ptr<ListeningGuest> first = std::make_shared<ListeningGuest>(1);
    std::shared_ptr<ListeningGuest> second = std::make_shared<ListeningGuest>(2);
};

}  // namespace

TEST_CASE("all sensors are known and none is active at first") {
    SensorsWorld world;
    CHECK(world.caller.metadata(sensors_path) ==
          Json::parse(
              R"({"active_sensors":[],"enabled":false,"supported_sensors":["acceleration","gyroscope",)"
              R"("magnetic-field","orientation","temperature","proximity","light","pressure","humidity"]})"));
    CHECK(world.caller.op(world.first, "sensors.list").at("sensors").as_array().size() == 9);
}

TEST_CASE("the smallest delay of all guests is told, and goes with its guest") {
    SensorsWorld world;
    world.activate(world.first, "light", 66);
    world.activate(world.second, "acceleration", 200);
    world.activate(world.first, "acceleration", 20);
    CHECK(world.active() ==
          Json::parse(R"([{"type":"acceleration","delay":20},{"type":"light","delay":66}])"));
    world.caller.leave(world.first);
    CHECK(world.active() == Json::parse(R"([{"type":"acceleration","delay":200}])"));
    world.activate(world.second, "acceleration", 200, false);
    CHECK(world.active() == Json::array());
}

TEST_CASE("updates are refused with their reason") {
    SensorsWorld world;
    world.activate(world.first, "acceleration", 20);
    CHECK(world.patch(R"([{"type":"acceleration","x":1,"y":2,"z":3}])") ==
          "400 Sensor updates are not enabled");
    world.enable();
    CHECK(world.patch("{}") == "400 Request body must be an array");
    CHECK(world.patch("[]") == "400 No sensor data provided");
    CHECK(world.patch("[3]") == "400 Sensor data must be an object");
    CHECK(world.patch("[{}]") == "400 Missing field 'type'");
    CHECK(world.patch(R"([{"type":3}])") == "400 Invalid value for field 'type'");
    CHECK(world.patch(R"([{"type":"nose","value":1}])") == "400 Unknown sensor type 'nose'");
    CHECK(world.patch(R"([{"type":"light","value":1}])") == "400 Sensor 'light' is not active");
    CHECK(world.patch(R"([{"type":"acceleration","x":1,"z":3}])") ==
          "400 Missing field 'y' for sensor 'acceleration'");
    CHECK(world.patch(R"([{"type":"acceleration","x":1,"y":"2","z":3}])") ==
          "400 Invalid value for field 'y'");
    CHECK(world.patch(R"([{"type":"acceleration","x":1,"y":1e200,"z":3}])") ==
          "400 Invalid value for field 'y'");
    CHECK(world.patch(R"([{"type":"acceleration","x":1,"y":2,"z":3}])") == "200");
}

TEST_CASE("nothing of an update takes effect when one entry is wrong") {
    SensorsWorld world;
    world.enable();
    world.activate(world.first, "light", 20);
    CHECK(world.patch(R"([{"type":"light","value":1},{"type":"humidity","value":1}])") ==
          "400 Sensor 'humidity' is not active");
    CHECK(world.patch(R"([{"type":"light","value":7}])") == "200");
    const Json event = world.first->message(0);
    CHECK(event.at("values") == Json::parse("[7]"));
    CHECK(event.at("type") == Json("light"));
    CHECK(event.at("event") == Json("sensor"));
    CHECK(event.at("timestamp").as_int() > 0);
}

TEST_CASE("a continuous sensor shows its last value at each guest's rate") {
    SensorsWorld world;
    world.enable();
    world.activate(world.first, "acceleration", 20);
    REQUIRE(world.patch(R"([{"type":"acceleration","x":0,"y":0,"z":9.81}])") == "200");
    CHECK(world.first->message(0).at("values") == Json::parse("[0,0,9.81]"));
    world.pass(20ms);
    CHECK(world.first->message(1).at("values") == Json::parse("[0,0,9.81]"));
    world.clock.await_waiters(1);
    REQUIRE(world.patch(R"([{"type":"acceleration","x":1,"y":0,"z":9.81}])") == "200");
    world.pass(20ms);
    CHECK(world.first->message(2).at("values") == Json::parse("[1,0,9.81]"));
    world.activate(world.second, "acceleration", 1000);
    CHECK(world.second->message(0).at("values") == Json::parse("[1,0,9.81]"));
    world.activate(world.first, "acceleration", 0, false);
    world.pass(1s);
    world.second->message(1);
    CHECK(world.first->messages() == 3);
}

TEST_CASE("a sensor that reports changes is told once, and to who comes later") {
    SensorsWorld world;
    world.enable();
    world.activate(world.first, "light", 0);
    REQUIRE(world.patch(R"([{"type":"light","value":300}])") == "200");
    world.first->message(0);
    world.pass(10s);
    world.activate(world.second, "light", 0);
    CHECK(world.second->message(0).at("values") == Json::parse("[300]"));
    CHECK(world.first->messages() == 1);
}

TEST_CASE("wrong activations are refused") {
    SensorsWorld world;
    CHECK(world.activate(world.first, "nose", 1) == Json("Unknown sensor type 'nose'"));
    CHECK(world.activate(world.first, "light", -1) == Json("Invalid value for field 'delay_ms'"));
    CHECK(world.caller.op(world.first, "sensors.activate", R"({"type":"light"})") ==
          Json("Missing field 'on'"));
    CHECK(world.caller.op(world.first, "sensors.activate", "{}") == Json("Missing field 'type'"));
}

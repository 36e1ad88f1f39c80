#include "instance-agent/agent/devices/location/location_device.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "tests/agent/devices/device_place.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

const std::string location_path = "/1.0/location";
const std::string place =
    R"({"latitude":48.5,"longitude":-11.25,"altitude":500,"time":1000000,"speed":2,"bearing":90})";

// `place` with one member set to this text.
std::string with_field(const std::string& name, const std::string& value) {
    Json body = Json::parse(place);
    body.set(name, RawJson{value});
    return body.dump();
}

std::string without_field(const std::string& name) {
    Json body = Json::parse(place);
    body.erase(name);
    return body.dump();
}

struct LocationWorld : DevicePlace {
    LocationWorld()
        : device(std::make_unique<agent::LocationDevice>(context(), tracer, link)), caller(*device) {}
    void enable(bool on = true) const {
        REQUIRE(caller.outcome(Method::post, location_path,
                               on ? R"({"enable":true})" : R"({"enable":false})") == "200");
    }
    std::string patch(const std::string& body) const {
        return caller.outcome(Method::patch, location_path, body);
    }
    Json got() const { return caller.op(guest, "location.get"); }
    // When the timer waits again.
    void pass(Duration duration) {
        clock.await_waiters(1);
        clock.advance(duration);
    }

    std::unique_ptr<agent::LocationDevice> device;
    DeviceCaller caller;
    std::shared_ptr<ListeningGuest> guest = std::make_shared<ListeningGuest>(7);
};

}  // namespace

TEST_CASE("location is off until it is enabled") {
    LocationWorld world;
    CHECK(
        world.caller.ask(Method::get, location_path) ==
        Json::parse(R"({"type":"sync","status":"Success","status_code":200,"metadata":{"enabled":false}})"));
    CHECK(world.patch(place) == "400 Location updates are not enabled");
    CHECK(world.caller.ask(Method::post, location_path, R"({"enable":true})") ==
          Json::parse(R"({"type":"sync","status":"Success","status_code":200})"));
    CHECK(world.caller.metadata(location_path) == Json::parse(R"({"enabled":true})"));
    CHECK(world.patch(place) == "200");
    CHECK(world.caller.outcome(Method::post, location_path, "{}") == "400 Missing field 'enable'");
    CHECK(world.caller.outcome(Method::post, location_path, R"({"enable":1})") ==
          "400 Invalid value for field 'enable'");
    CHECK(world.caller.outcome(Method::post, location_path, "[]") == "400 Request body must be an object");
}

TEST_CASE("an update that is wrong says why and changes nothing") {
    LocationWorld world;
    world.enable();
    REQUIRE(world.patch(place) == "200");
    for (const char* name : {"latitude", "longitude", "altitude", "time", "speed", "bearing"}) {
        CHECK(world.patch(without_field(name)) == "400 Missing field '" + std::string(name) + "'");
        CHECK(world.patch(with_field(name, "null")) == "400 Missing field '" + std::string(name) + "'");
        CHECK(world.patch(with_field(name, "\"1\"")) ==
              "400 Invalid value for field '" + std::string(name) + "'");
        CHECK(world.patch(with_field(name, "1e300")) ==
              "400 Invalid value for field '" + std::string(name) + "'");
    }
    const std::pair<const char*, const char*> wrong[] = {{"latitude", "90.001"},
                                                         {"latitude", "-90.001"},
                                                         {"longitude", "180.001"},
                                                         {"longitude", "-181"},
                                                         {"speed", "-0.1"},
                                                         {"bearing", "-1"},
                                                         {"bearing", "360.5"},
                                                         {"time", "-1"},
                                                         {"horizontal_accuracy", "0"},
                                                         {"horizontal_accuracy", "true"},
                                                         {"vertical_accuracy", "-3"}};
    for (const auto& [name, value] : wrong)
        CHECK(world.patch(with_field(name, value)) ==
              "400 Invalid value for field '" + std::string(name) + "'");
    CHECK(world.patch(with_field("format", "\"utm\"")) == "400 Invalid location format 'utm'");
    CHECK(world.patch(with_field("format", "3")) == "400 Invalid location format '3'");
    CHECK(world.patch("[]") == "400 Request body must be an object");
    CHECK(world.got().at("latitude").as_double() == 48.5);
}

TEST_CASE("positions come in degrees or in degrees and minutes") {
    LocationWorld world;
    world.enable();
    REQUIRE(world.patch(
                R"({"format":"nmea","latitude":4533.35,"longitude":-1030,"altitude":1,"time":1,"speed":0,)"
                R"("bearing":360,"horizontal_accuracy":4,"unknown":[]})") == "200");
    CHECK(world.got().at("latitude").as_double() == Approx(45.5558333));
    CHECK(world.got().at("longitude").as_double() == -10.5);
    CHECK(world.got().at("horizontal_accuracy").as_double() == 4);
    CHECK(world.got().at("vertical_accuracy").as_double() == 20);
    CHECK(
        world.patch(
            R"({"format":"nmea","latitude":4560,"longitude":0,"altitude":1,"time":1,"speed":0,"bearing":0})") ==
        "400 Invalid value for field 'latitude'");
}

TEST_CASE("a subscriber gets an update at once and again as time goes on") {
    LocationWorld world;
    world.enable();
    CHECK(world.got() == Json("no fix"));
    REQUIRE(world.patch(with_field("latitude", "1")) == "200");
    REQUIRE(world.caller.op(world.guest, "location.subscribe", R"({"interval_ms":500})") == Json::object());
    CHECK(world.guest->message(0).at("latitude").as_double() == 1);
    REQUIRE(world.patch(place) == "200");
    CHECK(world.guest->message(1) == Json::parse(R"({"event":"location","latitude":48.5,"longitude":-11.25,)"
                                                 R"("altitude":500,"time":1000000,"speed":2,"bearing":90,)"
                                                 R"("horizontal_accuracy":20,"vertical_accuracy":20})"));
    world.pass(500ms);
    CHECK(world.guest->message(2).at("time").as_int() == 1000500);
    world.pass(500ms);
    CHECK(world.guest->message(3).at("time").as_int() == 1001000);
}

TEST_CASE("who subscribes late gets the present fix, as sentences if wanted") {
    LocationWorld world;
    world.enable();
    REQUIRE(world.patch(place) == "200");
    world.clock.advance(3s);
    world.caller.op(world.guest, "location.subscribe", R"({"format":"nmea"})");
    const Json event = world.guest->message(0);
    const JsonArray& sentences = event.at("sentences").as_array();
    REQUIRE(sentences.size() == 4);
    CHECK(sentences[0].as_string().substr(0, 43) == "$GPGGA,001643.00,4830.00000,N,01115.00000,W");
    CHECK(sentences[3].as_string().substr(0, 6) == "$GPGST");
}

TEST_CASE("subscribers hear that location was switched, and nothing more when it is off") {
    LocationWorld world;
    world.enable();
    REQUIRE(world.patch(place) == "200");
    world.caller.op(world.guest, "location.subscribe");
    world.guest->message(0);
    world.enable(false);
    CHECK(world.guest->message(1) == Json::parse(R"({"event":"location.enabled","enabled":false})"));
    world.pass(10s);
    world.enable(true);
    CHECK(world.guest->message(2) == Json::parse(R"({"event":"location.enabled","enabled":true})"));
    CHECK(world.got().at("time").as_int() == 1000000);
    world.caller.leave(world.guest);
    const auto other = std::make_shared<ListeningGuest>(8);
    world.caller.op(other, "location.subscribe");
    world.enable(false);
    other->message(0);  // by now all has come that was under way to the guest
    world.enable(true);
    REQUIRE(world.patch(place) == "200");
    CHECK(other->message(2).at("event") == Json("location"));
    world.enable(false);
    other->message(3);
    CHECK(world.guest->messages() == 3);
}

TEST_CASE("wrong subscriptions are refused") {
    LocationWorld world;
    CHECK(world.caller.op(world.guest, "location.subscribe", R"({"interval_ms":-1})") ==
          Json("Invalid value for field 'interval_ms'"));
    CHECK(world.caller.op(world.guest, "location.subscribe", R"({"interval_ms":1.5})") ==
          Json("Invalid value for field 'interval_ms'"));
    CHECK(world.caller.op(world.guest, "location.subscribe", R"({"format":"xml"})") ==
          Json("Invalid value for field 'format'"));
}

TEST_CASE("before any update an instance is where its file says") {
    LocationWorld world;
    CHECK(world.got() == Json("no fix"));
    world.write(world.paths.data / "static_gps_position", "4807.038,N,1131.001,E\n");
    world.clock.advance(1s);
    CHECK(world.got().at("latitude").as_double() == Approx(48.1173));
    CHECK(world.got().at("time").as_int() == 1704164646678);
    world.caller.op(world.guest, "location.subscribe");
    CHECK(world.guest->message(0).at("longitude").as_double() == Approx(11.51668333));
    world.enable();
    REQUIRE(world.patch(place) == "200");
    CHECK(world.got().at("latitude").as_double() == 48.5);
}

TEST_CASE("a restarted agent knows that location is enabled, a restarted instance begins anew") {
    LocationWorld world;
    world.enable();
    const auto enabled_now = [&] {
        world.device = std::make_unique<agent::LocationDevice>(world.context(), world.tracer, world.link);
        return DeviceCaller(*world.device).metadata(location_path).at("enabled").as_bool();
    };
    CHECK(enabled_now());
    world.start_instance(2);
    CHECK_FALSE(enabled_now());
    world.write(world.context().state() / "location.json", "{");
    CHECK_FALSE(enabled_now());
}

TEST_CASE("a reader of the pseudo terminal gets sentences once a second") {
    LocationWorld world;
    world.enable();
    REQUIRE(world.patch(place) == "200");
    const FileDescriptor reader = open_file(world.sockets() / "gnss", O_RDWR | O_NOCTTY);
    world.pass(1s);
    std::string text;
    while (std::count(text.begin(), text.end(), '\n') < 4) {
        char buffer[512];
        const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
        REQUIRE(count > 0);
        text.append(buffer, static_cast<std::size_t>(count));
    }
    CHECK(text.substr(0, 12) == "$GPGGA,00164");
    CHECK(text.substr(16, 28) == ",4830.00000,N,01115.00000,W,");
    const std::size_t second = text.find("\r\n") + 2, third = text.find("\r\n", second) + 2;
    CHECK(text.substr(second, 6) == "$GPRMC");
    CHECK(text.substr(third, 6) == "$GPGSA");
    CHECK(text.substr(text.find("\r\n", third) + 2, 6) == "$GPGST");
}

TEST_CASE("a reader that never reads does not hold up the feed, and gets whole sentences later") {
    LocationWorld world;
    agent::GnssPty pty(world.sockets() / "receiver", world.sockets() / "second");
    CHECK_FALSE(pty.has_reader());
    const FileDescriptor reader = open_file(world.sockets() / "second", O_RDWR | O_NOCTTY | O_NONBLOCK);
    CHECK(pty.has_reader());
    for (int i = 0; i < 5000; ++i) pty.feed("$GPTXT,0123456789012345678901234567890123456789*00\r\n");
    CHECK(::write(reader.get(), "probe", 5) == 5);
    std::string text;
    for (char buffer[4096];;) {
        const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
        if (count <= 0) break;
        text.append(buffer, static_cast<std::size_t>(count));
        pty.feed("");
    }
    REQUIRE(text.size() > 1000);
    CHECK(text.size() % 52 == 0);
    CHECK(text.size() < 5000 * 52);
}

TEST_CASE("outside of an instance nothing is put into /dev") {
    DevicePlace world;
    agent::DeviceContext context = world.context();
    context.in_instance = false;
    const auto name = context.paths.in_guest("/dev/gnss-nmea");
    std::filesystem::create_directories(name.parent_path());
    const agent::LocationDevice device(context, world.tracer, world.link);
    CHECK(std::filesystem::is_symlink(world.sockets() / "gnss"));
    CHECK_FALSE(std::filesystem::is_symlink(name));
}

TEST_CASE("a link that vanished is there again for each who has looked after it") {
    const LocationWorld world;
    const auto link = world.sockets() / "receiver";
    const agent::GnssPty pty(link, world.sockets() / "second");
    for (int round = 0; round < 300; ++round) {
        std::filesystem::remove(link);
        const std::jthread other([&] { pty.keep_links(); });
        pty.keep_links();
        REQUIRE(std::filesystem::is_symlink(link));
    }
}

TEST_CASE("links of the pseudo terminal come back, and go with it") {
    LocationWorld world;
    const auto link = world.sockets() / "receiver", second = world.sockets() / "second";
    {
        agent::GnssPty pty(link, second);
        std::filesystem::remove(link);
        std::filesystem::remove(second);
        pty.idle();
        CHECK(std::filesystem::is_symlink(second));
        CHECK(std::filesystem::is_character_file(second));
    }
    CHECK_FALSE(std::filesystem::is_symlink(link));
    CHECK_FALSE(std::filesystem::is_symlink(second));
    world.write(second, "of another");
    const agent::GnssPty pty(link, second);
    CHECK(read_file(second) == "of another");
}

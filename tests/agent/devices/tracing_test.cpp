#include "instance-agent/agent/devices/tracing/tracing_device.h"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "instance-agent/agent/devices/tracing/traced.h"
#include "tests/agent/devices/device_place.h"
#include "tests/agent/devices/trace_reader.h"
#include "tests/support/small_disk.h"

using namespace svc;
using namespace svc::test;
using agent::TracePhase;
using agent::TraceSlice;

namespace {

const std::string tracing_path = "/1.0/tracing";

// "begin api GET /x", in the order of the file; names of tracks by id.
struct Trace {
    explicit Trace(const std::filesystem::path& file) {
        const ProtoMessage whole(read_file(file, 64U << 20));
        for (const std::string& packet : whole.texts.at(1)) take(ProtoMessage(packet));
    }
    void take(const ProtoMessage& packet) {
        REQUIRE(packet.number(10) == 1);
        if (packet.has(60)) return take_track(packet);
        const ProtoMessage event = packet.message(11);
        REQUIRE(packet.number(58) == 6);
        REQUIRE(packet.number(8) > 0);
        REQUIRE(tracks.count(event.number(11)) == 1);
        static const std::map<std::uint64_t, std::string> phases{
            {1, "begin"}, {2, "end"}, {3, "instant"}, {4, "counter"}};
        std::string text = phases.at(event.number(9));
        if (event.has(22)) text += " " + event.text(22);
        if (event.has(23)) text += " " + event.text(23);
        if (event.has(30)) text += " " + std::to_string(static_cast<std::int64_t>(event.number(30)));
        events.push_back(text);
        places.push_back(tracks.at(event.number(11)));
    }
    void take_track(const ProtoMessage& packet) {
        const ProtoMessage track = packet.message(60);
        if (tracks.empty()) {
            REQUIRE(packet.number(13) == 1);
            REQUIRE(track.message(3).number(1) == static_cast<std::uint64_t>(::getpid()));
            REQUIRE(track.message(3).text(6) == "svc-agent");
        } else {
            REQUIRE(tracks.count(track.number(5)) == 1);
        }
        tracks[track.number(1)] = track.has(2)   ? track.text(2)
                                  : track.has(4) ? "thread " + std::to_string(track.message(4).number(2))
                                                 : "process";
    }
    std::vector<std::string> events, places;
    std::map<std::uint64_t, std::string> tracks;
};

struct TracingWorld : DevicePlace {
    TracingWorld() : device(context(), tracer), caller(device) {}
    void start() const { REQUIRE(caller.outcome(Method::post, tracing_path, R"({"enable":true})") == "200"); }
    std::filesystem::path stop() const {
        return caller.ask(Method::post, tracing_path, R"({"enable":false})")
            .at("metadata")
            .at("path")
            .as_string();
    }
    bool active() const { return caller.metadata(tracing_path).at("active").as_bool(); }

    agent::TracingDevice device;
    DeviceCaller caller;
    std::shared_ptr<ListeningGuest> guest = std::make_shared<ListeningGuest>(5);
};

}  // namespace

TEST_CASE("tracing is switched on and off once each") {
    TracingWorld world;
    CHECK_FALSE(world.active());
    CHECK(world.caller.outcome(Method::post, tracing_path, R"({"enable":false})") ==
          "400 Tracing is not active");
    world.start();
    CHECK(world.active());
    CHECK(world.caller.outcome(Method::post, tracing_path, R"({"enable":true})") ==
          "400 Tracing is already active");
    CHECK(world.caller.outcome(Method::post, tracing_path, "{}") == "400 Missing field 'enable'");
    const std::string stem = (world.paths.data / "traces/svc-agent_").string() + std::to_string(::getpid());
    CHECK(world.stop() == stem + ".0");
    CHECK_FALSE(world.active());
    world.start();
    CHECK(world.stop() == stem + ".1");
    struct stat status {};
    REQUIRE(::stat((stem + ".1").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0644);
}

TEST_CASE("a trace tells slices, moments and counters of the agent, by thread") {
    TracingWorld world;
    world.tracer.instant("never", "recorded");
    world.start();
    {
        const TraceSlice slice(world.tracer, "api", "GET /1.0");
        world.tracer.instant("location", "update");
    }
    std::thread([&] { world.tracer.instant("other", "thread"); }).join();
    world.tracer.count("sensors", "active", -3);
    const Trace trace(world.stop());
    CHECK(trace.events == std::vector<std::string>{"begin api GET /1.0", "instant location update", "end",
                                                   "instant other thread", "counter sensors active -3"});
    CHECK(trace.places[0] == trace.places[2]);
    CHECK(trace.places[0] == "thread " + std::to_string(::gettid()));
    CHECK(trace.places[3] != trace.places[0]);
    CHECK(trace.places[4] == "active");
}

TEST_CASE("guests add events on a track of their own") {
    TracingWorld world;
    const auto send = [&](const std::string& event) {
        return world.caller.op(world.guest, "trace.event", event);
    };
    CHECK(send(R"({"name":"early"})") == Json::parse(R"({"active":false})"));
    world.start();
    CHECK(send(R"({"name":"frame","category":"gfx","phase":"begin"})") == Json::parse(R"({"active":true})"));
    send(R"({"phase":"end"})");
    send(R"({"name":"fps","phase":"counter","value":60})");
    CHECK(send(R"({"phase":"begin"})") == Json("Missing field 'name'"));
    CHECK(send(R"({"name":"","phase":"begin"})") == Json("Invalid value for field 'name'"));
    CHECK(send(R"({"name":"x","phase":"loop"})") == Json("Invalid value for field 'phase'"));
    CHECK(send(R"({"name":"x","phase":"counter"})") == Json("Missing field 'value'"));
    CHECK(send(R"({"name":"x","phase":"counter","value":1.5})") == Json("Invalid value for field 'value'"));
    CHECK(send(R"({"name":")" + std::string(257, 'x') + R"("})") == Json("Invalid value for field 'name'"));
    const Trace trace(world.stop());
    CHECK(trace.events == std::vector<std::string>{"begin gfx frame", "end", "counter guest fps 60"});
    CHECK(trace.places ==
          std::vector<std::string>{"guest 5 (uid 0)", "guest 5 (uid 0)", "guest 5 (uid 0): fps"});
}

TEST_CASE("what is newest stays when there is more than fits") {
    TracingWorld world;
    world.start();
    for (int i = 0; i < 20000; ++i) world.tracer.instant("many", std::to_string(i));
    const auto file = world.stop();
    CHECK(std::filesystem::file_size(file) < (65U << 10));
    const Trace trace(file);
    REQUIRE(trace.events.size() > 500);
    CHECK(trace.events.back() == "instant many 19999");
    CHECK(trace.events.front() == "instant many " + std::to_string(20000 - trace.events.size()));
}

TEST_CASE("tracks are limited, their events are not lost") {
    TracingWorld world;
    world.start();
    for (std::uint64_t id = 0; id < agent::Tracer::max_tracks + 10; ++id)
        world.tracer.guest_event(id, [&] { return "guest " + std::to_string(id); },
                                 {TracePhase::instant, "a", "b", 0, 1, 0});
    const Trace trace(world.stop());
    CHECK(trace.tracks.size() == agent::Tracer::max_tracks);
    CHECK(trace.places.back() == "others");
}

TEST_CASE("routes and ops become slices") {
    TracingWorld world;
    agent::GuestFeature feature;
    feature.ops["a.op"] = [](const auto&, const JsonFields&) { return agent::GuestAnswer{}; };
    const auto routes = agent::traced(world.device.routes(), world.tracer);
    const auto features = agent::traced(std::vector{feature}, world.tracer);
    world.start();
    Request request;
    routes.at(0).handler(request);
    const Json members = Json::object();
    features.at(0).ops.at("a.op")(world.guest, JsonFields(members));
    CHECK(Trace(world.stop()).events ==
          std::vector<std::string>{"begin api GET /1.0/tracing", "end", "begin guest a.op", "end"});
}

TEST_CASE("a trace that cannot be written is kept until it can") {
    TracingWorld world;
    world.start();
    world.tracer.instant("a", "b");
    world.write(world.paths.data / "traces", "in the way");
    CHECK(world.caller.outcome(Method::post, tracing_path, R"({"enable":false})") ==
          "500 Failed to write trace: Not a directory");
    CHECK(world.active());
    std::filesystem::remove(world.paths.data / "traces");
    CHECK(Trace(world.stop()).events == std::vector<std::string>{"instant a b"});
}

TEST_CASE("a trace for which the disk has no room leaves nothing behind") {
    TracingWorld world;
    world.start();
    for (int i = 0; i < 20000; ++i) world.tracer.instant("many", "events");
    on_small_disk(16U << 10, [&](const std::filesystem::path& disk) {
        agent::Paths paths = world.paths;
        paths.data = disk;
        agent::TracingDevice device(
            agent::DeviceContext{paths, {}, {}, {}, false, false, world.metrics, world.clock}, world.tracer);
        CHECK(DeviceCaller(device).outcome(Method::post, tracing_path, R"({"enable":false})") ==
              "500 Failed to write trace: No space left on device");
        CHECK(std::filesystem::is_empty(disk / "traces"));
    });
    CHECK(world.active());
    CHECK(Trace(world.stop()).events.size() > 500);
}

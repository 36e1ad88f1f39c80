#pragma once
// The C library against a real guest server with devices of the test's own.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "instance-agent/libsvcguest/svcguest.h"
#include "libsvc/base/error.h"
#include "tests/agent/guest/guest_client.h"

namespace svc::test {

using agent::GuestAnswer;
using agent::GuestFeature;
using agent::GuestSessionPtr;

// The calls of the handlers, as text.
using Told = std::vector<std::string>;

inline void add(void* user, const std::string& text) {
    static_cast<Told*>(user)->push_back(text);
}

inline std::string text_of(const svcguest_value& value) {
    std::string text = std::to_string(value.prop) + "/" + std::to_string(value.area_id) + ":";
    for (std::size_t i = 0; i < value.int32_count; ++i) text += " i" + std::to_string(value.int32_values[i]);
    for (std::size_t i = 0; i < value.int64_count; ++i) text += " l" + std::to_string(value.int64_values[i]);
    for (std::size_t i = 0; i < value.float_count; ++i)
        text += " f" + Json(static_cast<double>(value.float_values[i])).dump();
    for (std::size_t i = 0; i < value.byte_count; ++i) text += " b" + std::to_string(value.bytes[i]);
    return text + (value.string_value != nullptr ? std::string(" ") + value.string_value : "");
}

inline svcguest_handlers all_handlers() {
    svcguest_handlers handlers{};
    handlers.location = [](void* user, const svcguest_location* l) {
        add(user, "location " + Json(l->latitude).dump() + " " + Json(l->longitude).dump() + " " +
                      std::to_string(l->time_ms));
    };
    handlers.nmea = [](void* user, const char* const* sentences, std::size_t count) {
        add(user, "nmea " + std::to_string(count) + " " + sentences[0]);
    };
    handlers.location_enabled = [](void* user, bool on) { add(user, on ? "enabled" : "disabled"); };
    handlers.sensor = [](void* user, const svcguest_sensor* s) {
        add(user, std::string("sensor ") + s->type + " " + std::to_string(s->count) + " " +
                      Json(s->values[0]).dump());
    };
    handlers.frame = [](void* user, const svcguest_frame* f) {
        add(user, "frame " + std::to_string(f->slot) + " " + std::to_string(f->pixels[0]));
    };
    handlers.camera_closed = [](void* user, std::uint16_t handle, const char* reason) {
        add(user, "closed " + std::to_string(handle) + " " + reason);
    };
    handlers.vehicle_changed = [](void* user, const svcguest_value* value) { add(user, text_of(*value)); };
    handlers.vehicle_request = [](void* user, const svcguest_vehicle_request* request) {
        add(user, (request->is_set ? "set " : "get ") + std::to_string(request->id) + " " +
                      text_of(request->value));
    };
    handlers.other = [](void* user, const char* event, const char*) {
        add(user, std::string("other ") + event);
    };
    return handlers;
}

inline constexpr std::size_t slot_bytes = 64;

// Answers any op with `answer`, then sends `events`; remembers requests and releases.
struct Script {
    std::map<std::string, Json> answers;
    std::map<std::string, std::vector<Json>> events;
    std::vector<std::string> requests, releases;
    GuestSessionPtr session;
    std::mutex mutex;

    GuestAnswer run(const std::string& op, const GuestSessionPtr& from, const JsonFields& request) {
        std::lock_guard lock(mutex);
        session = from;
        requests.push_back(request.value().dump());
        for (const Json& event : events[op]) from->send_event(event);
        GuestAnswer answer{answers.count(op) > 0 ? answers.at(op) : Json::object()};
        if (op == "camera.open") answer.descriptor = make_frames();
        return answer;
    }
    static FileDescriptor make_frames() {
        FileDescriptor memory(memfd_create("frames", MFD_CLOEXEC));
        write_all(memory.get(), std::string(slot_bytes, '\1') + std::string(slot_bytes, '\2'));
        return memory;
    }
    GuestFeature feature() {
        GuestFeature feature;
        feature.name = "location";
        for (const char* op :
             {"location.subscribe", "location.get", "sensors.activate", "camera.open", "camera.close",
              "vhal.get", "vhal.set", "vhal.subscribe", "vhal.provide", "vhal.reply", "telephony.subscribe",
              "telephony.dial", "telephony.answer", "telephony.hold", "telephony.hang_up",
              "telephony.send_sms", "telephony.take_sms", "test.any"})
            feature.ops[op] = [this, op](const auto& from, const auto& request) {
                return run(op, from, request);
            };
        feature.binary = [this](const auto&, std::uint16_t stream, std::string_view payload) {
            std::lock_guard lock(mutex);
            releases.push_back(std::to_string(stream) + ":" + std::to_string(payload[0]));
        };
        return feature;
    }
    std::string last_request() {
        std::lock_guard lock(mutex);
        return requests.back();
    }
};

// The library's own patience, of 5 s, may not do on a busy machine.
inline svcguest* connect_patiently(const std::filesystem::path& socket) {
    svcguest* connection = nullptr;
    int error = -ETIMEDOUT;
    for (int attempt = 0; attempt < 4 && error == -ETIMEDOUT; ++attempt)
        connection = svcguest_connect(socket.c_str(), "test", &error);
    REQUIRE(error == 0);
    REQUIRE(connection != nullptr);
    svcguest_set_timeout(connection, 20'000);
    return connection;
}

inline agent::GuestServerOptions unhurried_server(const std::filesystem::path& socket) {
    agent::GuestServerOptions options;
    options.socket = socket;
    options.hello_limit = long_hello;
    return options;
}

class Guest {
  public:
    Guest()
        : directory_(std::filesystem::temp_directory_path(), "svcguest-test-"),
          server_(unhurried_server(directory_.path() / "guest.unix"), {script.feature()}) {
        connection = connect_patiently(directory_.path() / "guest.unix");
        const auto handlers = all_handlers();
        svcguest_set_handlers(connection, &handlers, sizeof(handlers), &told);
    }
    ~Guest() { svcguest_close(connection); }
    // Dispatches until so many were told in all.
    void dispatch(std::size_t count) {
        while (told.size() < count) REQUIRE(svcguest_dispatch(connection, 20'000) > 0);
    }

    Script script;
    Told told;
    svcguest* connection = nullptr;

  private:
    TemporaryDirectory directory_;
    agent::GuestServer server_;
};

inline Json location_event() {
    return Json::object({{"event", "location"},
                         {"latitude", 48.5},
                         {"longitude", -11.25},
                         {"altitude", 500},
                         {"time", 1597237057123LL},
                         {"speed", 1.5},
                         {"bearing", 90},
                         {"horizontal_accuracy", 20},
                         {"vertical_accuracy", 20}});
}

inline Json value_json() {
    return Json::object({{"area_id", 49},
                         {"bytes", JsonArray{0, 255}},
                         {"float_values", JsonArray{66.5}},
                         {"int32_values", JsonArray{-1, 2147483647}},
                         {"int64_values", JsonArray{-9007199254740993LL}},
                         {"prop", 358614275},
                         {"status", 0},
                         {"string_value", "a\"b\n\u00e9\U0001f600"},
                         {"timestamp", 5}});
}

}  // namespace svc::test

#pragma once
// A device below a temporary directory, reached as the two servers reach it, with a clock turned by hand.
#include <catch2/catch.hpp>

#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/devices/tracing/tracer.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/agent/vehicle/vehicle_guest.h"
#include "tests/support/manual_clock.h"

namespace svc::test {

using ListeningGuest = VehicleGuest;

class DevicePlace {
  public:
    DevicePlace() : directory_(std::filesystem::temp_directory_path()) {
        paths.data = directory_.path() / "data";
        paths.guest = directory_.path() / "guest";
        paths.proc = directory_.path() / "proc";
        start_instance(1);
        make_directories(paths.data);
        make_directories(directory_.path() / "run");
    }
    void write(const std::filesystem::path& file, std::string_view text) const {
        make_directories(file.parent_path());
        write_file_atomically(file, text);
    }
    // Its first process is another one now.
    void start_instance(int number) const {
        write(paths.proc / "sys/kernel/random/boot_id", "b\n");
        write(paths.proc / "1/stat",
              "1 (init) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 " + std::to_string(number) + " 0\n");
    }
    std::filesystem::path sockets() const { return directory_.path() / "run"; }
    agent::DeviceContext context() {
        return agent::DeviceContext{paths, sockets(), {}, platform, false, true, metrics, clock};
    }

    agent::Paths paths;
    std::string platform;
    MetricsRegistry metrics;
    ManualClock clock;
    agent::Tracer tracer{64U << 10};
    agent::StreamLink link;

  private:
    TemporaryDirectory directory_;
};

// Asks one device.
class DeviceCaller {
  public:
    explicit DeviceCaller(agent::Device& device)
        : router_(device.routes()), feature_(device.guest_feature()) {}

    // The whole body; "400 text" as {"refused": ...}.
    Json ask(Method method, const std::string& path, const std::string& body = "") const {
        Request request;
        request.method = method;
        request.body = body;
        const auto match = router_.match(method, path);
        REQUIRE(match.route != nullptr);
        request.params = match.params;
        try {
            return Json::parse(match.route->handler(request).body);
        } catch (const std::exception& e) {
            return Json::parse(agent::failure(e).body);
        }
    }
    // "200", or "400 text".
    std::string outcome(Method method, const std::string& path, const std::string& body = "") const {
        const Json answer = ask(method, path, body);
        if (const Json* error = answer.find("error"))
            return std::to_string(answer.at("error_code").as_int()) + " " + error->as_string();
        return std::to_string(answer.at("status_code").as_int());
    }
    Json metadata(const std::string& path) const { return ask(Method::get, path).at("metadata"); }

    // What the op answers, or the text of its error.
    Json op(const std::shared_ptr<ListeningGuest>& guest, const std::string& name,
            const std::string& members = "{}") const {
        const Json request = Json::parse(members);
        try {
            return feature_.ops.at(name)(guest, JsonFields(request)).members;
        } catch (const Error& e) {
            return e.what();
        }
    }
    void leave(const std::shared_ptr<ListeningGuest>& guest) const { feature_.closed(guest); }

  private:
    Router router_;
    agent::GuestFeature feature_;
};

}  // namespace svc::test

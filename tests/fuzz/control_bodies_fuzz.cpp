// Bodies, and parts of paths, of every route of the control API, with all devices behind them.
#include "instance-agent/agent/agent_devices.h"
#include "instance-agent/agent/control/control_service.h"
#include "instance-agent/agent/control/root_routes.h"
#include "libsvc/base/file.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::control_bodies_target {

namespace {

using namespace svc;
using namespace svc::agent;

struct World {
    World()
        : directory(std::filesystem::temp_directory_path(), "fuzz-"),
          setting(data() / "log_level", "error"),
          devices(context()),
          routes(all_routes()),
          service(routes, metrics) {}
    std::filesystem::path data() const { return directory.path() / "data"; }
    DeviceContext context() {
        Paths paths;
        paths.data = data();
        paths.guest = directory.path();
        return DeviceContext{paths, directory.path(), {}, "webrtc", true, false, metrics, clock};
    }
    std::vector<Route> all_routes() {
        auto all = root_routes([this] { return devices.extensions(); }, setting, metrics);
        for (Route& route : devices.routes()) all.push_back(std::move(route));
        return all;
    }
    TemporaryDirectory directory;
    MetricsRegistry metrics;
    SystemClock clock;
    LogSetting setting;
    AgentDevices devices;
    std::vector<Route> routes;
    ControlService service;
};

// The captures of a path take what comes before the first line end.
std::string path_of(const Route& route, std::string_view capture) {
    std::string path = route.path;
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{')) {
        const auto close = path.find('}', open);
        path.replace(open, close - open + 1, capture.empty() ? "0" : capture);
        if (capture.find('{') != std::string::npos) break;
    }
    return path;
}

void answer(World& world, Request& request) {
    try {
        const RequestPlan plan = world.service.plan(request);
        Response response = plan.handler(request);
        if (response.later) response.later([](const Response&) {});
        world.service.done(request, response.status, 0, 0, {});
    } catch (const std::exception& e) {
        world.service.done(request, world.service.fault(&request, e).status, 0, 0, {});
    }
}

}  // namespace

FUZZ_TARGET(control_bodies)(const std::uint8_t* data, std::size_t size) {
    static World world;
    if (size == 0) return 0;
    const Route& route = world.routes[data[0] % world.routes.size()];
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto line_end =
        route.path.find('{') != std::string::npos ? input.find('\n') : std::string_view::npos;
    Request request;
    request.method = route.method;
    request.path = path_of(route, line_end != std::string_view::npos ? input.substr(0, line_end) : "0");
    request.body = line_end != std::string_view::npos ? input.substr(line_end + 1) : input;
    request.peer = std::make_shared<Peer>();
    answer(world, request);
    return 0;
}

}  // namespace svc::fuzz::control_bodies_target

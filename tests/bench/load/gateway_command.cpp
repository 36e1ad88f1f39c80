// svc-bench gateway: a whole gateway, with its store, whose instances are played, and sessions on it. Serves
// until its input ends.
#include <iostream>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/net/client/client.h"
#include "server/gateway/gateway.h"
#include "tests/bench/load/commands.h"
#include "tests/bench/load/process_memory.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_management.h"
#include "tests/support/gateway_options.h"

namespace svc::bench {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto patience = 20s;

gateway::Options options_in(const std::filesystem::path& directory) {
    gateway::Options options = test::loopback_gateway_options(directory);
    options.metrics_listen = "127.0.0.1:0";
    options.metrics_user = options.metrics_password = "bench";
    options.instance_url = "wss://127.0.0.1:1";
    return options;
}

Json call(HttpClient& client, Method method, const std::string& path, const Json& body = {}) {
    ClientRequest request;
    request.method = method;
    request.path = path;
    if (!body.is_null()) {
        request.headers.set("Content-Type", "application/json");
        request.body = body.dump();
    }
    const Json answer = Json::parse(client.call(request).body);
    if (answer.at("type") == Json("error"))
        throw Error(ErrorCode::unavailable, path + ": " + answer.at("error").as_string());
    return answer.at("metadata");
}

void await_region(HttpClient& client) {
    test::eventually("the gateway has found its region",
                     [&] { return call(client, Method::get, "/1.0/status").at("agents") == Json(1); });
}

std::string path_of(const std::string& url) {
    return url.substr(url.find('/', url.find("://") + 3));
}

// "MASTER SLAVE SESSION" for each.
JsonArray make_sessions(HttpClient& client, const test::FakeManagement& region, unsigned count) {
    const std::size_t earlier = region.launches().size();
    std::map<std::string, std::string> slaves;
    for (unsigned i = 0; i < count; ++i) {
        const Json session = call(client, Method::post, "/1.0/sessions",
                                  Json::object({{"app", "app"}, {"joinable", true}, {"idle_time_min", 0}}));
        slaves[session.at("id").as_string()] = path_of(session.at("url").as_string());
    }
    region.await_launches(earlier + count);
    JsonArray lines;
    for (const StreamLaunch& launch : region.launches()) {
        if (!slaves.contains(launch.session)) continue;
        const Json& streaming = launch.user_data.at("streaming");
        lines.emplace_back(path_of(streaming.at("control_url").as_string()) + " " +
                           slaves.at(launch.session) + " " + launch.session);
    }
    return lines;
}

// Of the listener with that path; the API has none: "/".
std::string address_of(const gateway::Gateway& gateway, const std::string& path) {
    for (std::string address : gateway.addresses()) {
        if (!address.starts_with("https://")) continue;
        const auto slash = address.find('/', std::string_view("https://").size());
        if ((slash == std::string::npos ? "/" : address.substr(slash)) == path)
            return address.substr(0, slash);
    }
    throw Error(ErrorCode::internal, "the gateway does not listen for " + path);
}

double seconds_since(Steady::time_point begin) {
    return std::chrono::duration<double>(Steady::now() - begin).count();
}

}  // namespace

// Sessions made one by one; how long a new process takes then until it serves.
int gateway_command(const Arguments& arguments) {
    const std::filesystem::path directory = arguments.text("directory");
    const unsigned count = arguments.number("sessions", 1000);
    test::FakeManagement region;
    gateway::Seams seams;
    seams.management = [&region](const RegionConfig&) { return region.connect(); };
    log::set_level(log::Level::error);
    auto gateway = std::make_unique<gateway::Gateway>(options_in(directory), seams);
    HttpClient client(Target::parse("unix://" + (directory / "gateway.socket").string()));
    await_region(client);
    make_sessions(client, region, 1);
    const auto before = memory_of("self", "Pss");
    const auto begin = Steady::now();
    JsonArray paths = make_sessions(client, region, count);
    const double seconds = seconds_since(begin);
    const auto more = static_cast<double>(memory_of("self", "Pss") - before);
    gateway.reset();
    const auto restart = Steady::now();
    gateway = std::make_unique<gateway::Gateway>(options_in(directory), seams);
    await_region(client);
    const double restarted = seconds_since(restart);
    std::cout << Json::object({{"url", address_of(*gateway, "/")},
                               {"metrics", address_of(*gateway, "/internal/1.0/metrics")},
                               {"paths", std::move(paths)},
                               {"created_per_second", count / seconds},
                               {"restart_ms", restarted * 1e3},
                               {"record_kib_each", more / count}})
                     .dump()
              << std::endl;
    std::cin.get();
    return 0;
}

}  // namespace svc::bench

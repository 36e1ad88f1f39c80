#include "tests/agent/hostile/whole_agent.h"

#include <catch2/catch.hpp>

#include "libsvc/base/log.h"
#include "tests/support/eventually.h"

namespace svc::test {

namespace fs = std::filesystem;

WholeAgent::WholeAgent(const fs::path& data, Clock* clock)
    : directory_(fs::temp_directory_path(), "whole-agent-"),
      paths_{data.empty() ? directory_.path() / "data" : data, directory_.path() / "guest",
             directory_.path() / "proc"},
      clock_(clock != nullptr ? *clock : system_clock_),
      setting_(paths_.data / "state/log_level", "error"),
      devices_(context()) {
    auto routes = agent::root_routes([this] { return devices_.extensions(); }, setting_, metrics);
    for (Route& route : devices_.routes()) routes.push_back(std::move(route));
    control_ = std::make_unique<agent::ControlServer>(api_socket(), std::move(routes), metrics);
    agent::GuestServerOptions options;
    options.socket = guest_socket();
    options.metrics = &metrics;
    options.hello_limit = long_hello;
    guests_ = std::make_unique<agent::GuestServer>(options, devices_.features());
    REQUIRE(serves());
    REQUIRE(eventually([this] { return control_->connections() == 0 && guests_->sessions() == 0; }));
}

WholeAgent::~WholeAgent() {
    control_.reset();
    guests_.reset();
    log::set_level(log::Level::info);
}

agent::DeviceContext WholeAgent::context() {
    make_directories(sockets(), 0755);
    if (!fs::exists(paths_.data)) make_directories(paths_.data);
    return agent::DeviceContext{paths_, sockets(), {}, "webrtc", true, true, metrics, clock_};
}

std::string http_request(const std::string& method, const std::string& path, const std::string& body) {
    return method + " " + path + " HTTP/1.1\r\nHost: s\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

Json WholeAgent::check_envelope(const RawReply& reply) {
    INFO(reply.status << " " << reply.body.substr(0, 300));
    REQUIRE((reply.status == 200 || reply.status == 201 || reply.status == 400 || reply.status == 500));
    Json body = Json::parse(reply.body);
    const bool is_error = reply.status >= 400;
    REQUIRE(body.at("type").as_string() == (is_error ? "error" : "sync"));
    REQUIRE(body.at(is_error ? "error_code" : "status_code").as_int() == reply.status);
    if (!is_error) return body;
    const std::string& text = body.at("error").as_string();
    REQUIRE((text.size() >= 8 && text.size() < 400));
    for (const char letter : text) REQUIRE((static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7F));
    REQUIRE(body.as_object().size() == 3);
    return body;
}

Json WholeAgent::ask(const std::string& method, const std::string& path, const std::string& body) const {
    return check_envelope(test::ask(api(), http_request(method, path, body)));
}

std::string WholeAgent::outcome_of(const Json& body) {
    if (const Json* error = body.find("error"))
        return std::to_string(body.at("error_code").as_int()) + " " + error->as_string();
    return std::to_string(body.at("status_code").as_int());
}

std::string WholeAgent::outcome(const std::string& method, const std::string& path,
                                const std::string& body) const {
    return outcome_of(ask(method, path, body));
}

void WholeAgent::switch_all(bool on) const {
    for (const char* device : {"location", "camera", "sensors", "tracing"})
        REQUIRE(outcome("POST", std::string("/1.0/") + device,
                        on ? R"({"enable":true})" : R"({"enable":false})") == "200");
}

bool WholeAgent::serves() const {
    GuestClient guest(guest_socket());
    return outcome("GET", "/1.0") == "200" && guest.hello().at("ok").as_bool();
}

bool WholeAgent::is_unharmed(std::size_t descriptors) const {
    return serves() && eventually([&] { return open_descriptors() <= descriptors; });
}

std::size_t open_descriptors() {
    const fs::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace svc::test

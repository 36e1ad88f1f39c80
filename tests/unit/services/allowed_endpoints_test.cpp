#include "libsvc/services/instances/launch/allowed_endpoints.h"

#include <catch2/catch.hpp>

using namespace svc;

namespace {

std::vector<AllowedEndpoint> endpoints_of(const std::string& metrics_server, const std::string& user_data) {
    Instance instance;
    InstanceConfig config;
    config.metrics_server = metrics_server;
    instance.config = config;
    instance.user_data = user_data;
    return allowed_endpoints(instance, {});
}

std::vector<AllowedEndpoint> told_by(const AgentSession& session) {
    Instance instance;
    instance.config = InstanceConfig();
    return allowed_endpoints(instance, session);
}

}  // namespace

TEST_CASE("an instance may reach its collector of metrics and its stream gateway") {
    const auto both = endpoints_of(
        "influxdb:192.168.100.1:8095,raw",
        R"({"streaming":{"session_id":"a","control_url":"wss://10.0.0.5:4000/1.0/sessions/a?token=b:1"}})");
    CHECK(both ==
          std::vector<AllowedEndpoint>{{"192.168.100.1", 8095, true, true}, {"10.0.0.5", 4000, true, false}});
    CHECK(endpoints_of("10.0.0.5:8095", "") == std::vector<AllowedEndpoint>{{"10.0.0.5", 8095, true, true}});
    CHECK(endpoints_of("", R"({"streaming":{"control_url":"ws://10.0.0.5:80"}})") ==
          std::vector<AllowedEndpoint>{{"10.0.0.5", 80, true, false}});
    CHECK(endpoints_of("", R"({"streaming":{"control_url":"wss://10.0.0.5/a:4000"}})") ==
          std::vector<AllowedEndpoint>{{"10.0.0.5", 443, true, false}});
}

TEST_CASE("an instance may reach all gateways that it was told") {
    CHECK(endpoints_of("", R"({"streaming":{"control_url":"wss://10.0.0.5:4000/1.0/x?token=a",
                               "other_gateways":["wss://10.0.0.6:4000","wss://10.0.0.7:4001"]}})") ==
          std::vector<AllowedEndpoint>{{"10.0.0.5", 4000, true, false},
                                       {"10.0.0.6", 4000, true, false},
                                       {"10.0.0.7", 4001, true, false}});
}

TEST_CASE("user data that names no gateway allows none") {
    for (const char* text :
         {"", "control_url", "[\"control_url\"]", "{\"streaming\":\"control_url\"}",
          R"({"streaming":{"control_url":7}})", R"({"streaming":{"control_url":"","other_gateways":7}})",
          R"({"streaming":{"control_url":"10.0.0.5:4000"}})",
          R"({"streaming":{"control_url":"wss://10.0.0.5:0/"}})",
          R"({"streaming":{"control_url":"wss://10.0.0.5:70000/"}})",
          R"({"streaming":{"control_url":"wss://10.0.0.5:"}})", R"({"control_url":"wss://10.0.0.5:4000"})"}) {
        INFO(text);
        CHECK(endpoints_of("", text).empty());
    }
}

TEST_CASE("an instance is told the load balancer at the address that its session has for it") {
    AgentSession session;
    session.service_urls = {"https://192.168.100.1:8444", "https://manager.example"};
    session.service_addresses = {{"192.168.100.1", "192.168.100.1"}, {"manager.example", "10.0.0.5"}};
    CHECK(told_by(session) ==
          std::vector<AllowedEndpoint>{{"192.168.100.1", 8444, true, false}, {"10.0.0.5", 443, true, false}});
}

TEST_CASE("an instance is told the proxy of its hooks") {
    AgentSession session;
    CHECK(told_by(session).empty());
    const std::vector<AllowedEndpoint> proxy{{"192.168.100.1", 3128, true, false}};
    for (const char* url : {"http://192.168.100.1:3128", "http://192.168.100.1:3128/",
                            "http://user:pass:word@192.168.100.1:3128"}) {
        INFO(url);
        session.network_proxy = url;
        CHECK(told_by(session) == proxy);
    }
    session.network_proxy = "http://192.168.100.1";
    CHECK(told_by(session) == std::vector<AllowedEndpoint>{{"192.168.100.1", 80, true, false}});
}

TEST_CASE("an instance that is updated is told the mirror of its packages") {
    AgentSession session;
    session.apt_mirror = "http://192.168.100.1:3142/debian";
    CHECK(told_by(session).empty());
    session.security_updates = true;
    CHECK(told_by(session) == std::vector<AllowedEndpoint>{{"192.168.100.1", 3142, true, false}});
}

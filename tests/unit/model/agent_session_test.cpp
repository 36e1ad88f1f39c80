#include <catch2/catch.hpp>

#include "libsvc/model/instance.h"
#include "tests/support/golden.h"
#include "tests/unit/model/record_checks.h"

namespace svc {
namespace {

AgentSession sample() {
    AgentSession session;
    session.instance_id = "c5pvhr3fbn40000000b0";
    session.instance_type = "base";
    session.service_socket = "/run/svc/agent.unix";
    session.service_urls = {"https://10.0.0.1:8444"};
    session.service_fingerprint = std::string(64, 'f');
    session.token = "header.claims.signature";
    session.config = {"webrtc", "com.example.app", ".Main", "influxdb:h:1,raw", "a,b", true, true};
    session.ready = {"/run/ready", "true", 80};
    session.boot_timeout_seconds = 60;
    return session;
}

TEST_CASE("the session file, both ways") {
    test::check_golden("unit/model/golden/session.json", sample().to_json());
    const Json written = Json::parse(test::read_golden("unit/model/golden/session.json"));
    CHECK(AgentSession::from_json(written).to_json() == written);
    test::check_members(written, {"instance_id", "token"}, {}, AgentSession::from_json);
}

TEST_CASE("numbers of a session that are out of range are refused") {
    Json session = sample().to_json();
    session.set("ready", Json::object({{"port", 65536}}));
    CHECK(test::message_of([&] { AgentSession::from_json(session); }) ==
          "argument ready.port is invalid: is out of range");
    session = sample().to_json();
    session.set("boot_timeout_seconds", 0);
    CHECK(test::code_of([&] { AgentSession::from_json(session); }) == ErrorCode::invalid_argument);
}

TEST_CASE("reports of the agent, both ways") {
    for (const char* status : {"running", "error", "stopped"}) {
        const InstanceReport report = InstanceReport::from_json(
            Json::object({{"status", status}, {"error_code", 4}, {"error_message", "why"}}));
        CHECK(report.status == status);
        CHECK(report.error_code == 4);
        CHECK(report.error_message == "why");
        CHECK(InstanceReport::from_json(report.to_json()).to_json() == report.to_json());
    }
    CHECK_FALSE(InstanceReport::from_json(Json::parse(R"({"status":null})")).status);
    CHECK(InstanceReport().to_json().at("status").is_null());
}

TEST_CASE("reports that say nothing known are refused") {
    for (const char* bad :
         {R"({"status":"fine"})", R"({"status":1})", R"({"error_code":"1"})", R"({"error_code":-1})",
          R"({"error_code":2147483648})", R"({"error_message":1})", "[]"}) {
        INFO(bad);
        CHECK(test::code_of([&] { InstanceReport::from_json(Json::parse(bad)); }) ==
              ErrorCode::invalid_argument);
    }
}

}  // namespace
}  // namespace svc

#include <catch2/catch.hpp>

#include "libsvc/model/instances/instance.h"
#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

PackageRef sample_package() {
    PackageRef package;
    package.name = "ssh";
    package.version = 2;
    package.fingerprint = std::string(64, 'a');
    package.size = 1234;
    package.hooks = {"install", "post-stop"};
    package.hook_timeout_seconds = 30;
    package.fetch = true;
    return package;
}

AppSetup sample_app() {
    AppSetup app;
    app.name = "game";
    app.boot_package = "com.example.app";
    app.boot_activity = "com.example.app.Main";
    app.boot = "systemctl start game";
    app.required_permissions = {"android.permission.CAMERA"};
    app.extra_data =
        Json::object({{"main.obb", Json::object({{"target", "/sdcard/Android/obb/com.example.app"}})}});
    app.keep = {"*.txt"};
    app.watchdog_disabled = true;
    app.watchdog_allowed_packages = {"com.example.other"};
    app.watchdog_command = "pgrep game";
    app.video_encoder = "software";
    return app;
}

AgentSession sample_agent_session() {
    AgentSession session;
    session.instance_id = "c5pvhr3fbn40000000b0";
    session.instance_type = "base";
    session.service_socket = "/run/svc/agent.unix";
    session.service_urls = {"https://lb.example.com:8444"};
    session.service_addresses = {{"lb.example.com", "10.0.0.1"}};
    session.service_fingerprint = std::string(64, 'f');
    session.token = "header.claims.signature";
    session.config = {"webrtc", "com.example.app", ".Main", "influxdb:h:1,raw", "", true, true};
    session.image_variant = "aaos";
    session.ready = {"/run/ready", "true", 80};
    session.boot_timeout_seconds = 60;
    session.packages = {sample_package()};
    session.app = sample_app();
    session.features = {"enable_wifi", "webrtc.enable_ice_logging"};
    session.security_updates = true;
    session.apt_mirror = "http://mirror.example/debian";
    session.network_proxy = "http://proxy.example:3128";
    session.gpu_type = "intel";
    session.gpus = {0, 2};
    return session;
}

TEST_CASE("the session file, both ways") {
    test::check_record_codec<AgentSession>({"session.json",
                                            sample_agent_session(),
                                            [](const AgentSession& session) { return session.to_json(); },
                                            AgentSession::from_json,
                                            {"instance_id", "token"},
                                            {}});
}

TEST_CASE("what the agent is told of an application, both ways") {
    test::check_record_codec<AppSetup>(
        {"", sample_app(), [](const AppSetup& app) { return app.to_json(); }, AppSetup::from_json, {}, {}});
    CHECK(AppSetup::from_json(Json::object()).to_json() == AppSetup().to_json());
}

TEST_CASE("numbers of a session that are out of range are refused") {
    const std::string session = sample_agent_session().to_json().dump();
    const auto with = [&](const char* key, const char* value) {
        return test::with_member(session.c_str(), key, value);
    };
    const std::string no_integers = "argument gpus is invalid: must be an array of integers";
    test::check_codec(AgentSession::from_json, {{with("ready", R"({"port":65536})"),
                                                 "argument ready.port is invalid: is out of range"},
                                                {with("boot_timeout_seconds", "0"), test::is_refused},
                                                {with("gpus", R"([0,"0"])"), no_integers},
                                                {with("gpus", "[0,-1]"), no_integers},
                                                {with("gpus", "[0,2147483648]"), no_integers}});
}

TEST_CASE("notes of a report are left out when there are none") {
    InstanceReport report;
    CHECK(report.to_json().find("notes") == nullptr);
    report.notes = {"no package manager", "second"};
    CHECK(InstanceReport::from_json(report.to_json()).notes == report.notes);
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
    test::check_codec(InstanceReport::from_json,
                      test::all_refused({R"({"status":"fine"})", R"({"status":1})", R"({"error_code":"1"})",
                                         R"({"error_code":-1})", R"({"error_code":2147483648})",
                                         R"({"error_message":1})", R"({"notes":"x"})", "[]"}));
}

}  // namespace
}  // namespace svc

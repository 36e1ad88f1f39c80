#include "libsvc/model/instances/instance.h"

#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "tests/support/instance_record.h"
#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::check_golden;
using enum InstanceStatus;

Instance sample_instance() {
    Instance instance;
    instance.id = InstanceId("c5pvhr3fbn40000000b0");
    instance.status = running;
    instance.node = "node0";
    instance.image_id = "c5pvhr3fbn40000000a0";
    instance.image_version = 2;
    instance.created_at = from_rfc3339("2024-01-02T03:04:05.678901234Z");
    instance.address = "192.168.100.2";
    instance.public_address = "203.0.113.5";
    instance.services = {{"ssh", 22, 0, 10000, 0, {"tcp"}, true},
                         {"media", 100, 109, 10001, 10010, {"tcp", "udp"}, false}};
    instance.stored_logs = {{"console.log", std::string(64, 'c')}};
    instance.error_message = "hook failed";
    instance.config = InstanceConfig{
        "webrtc", "com.example.app", ".Main", "influxdb:10.0.0.1:8086,raw", "enable_wifi", true, true, true};
    instance.resources = {2, 3ULL << 30, 21ULL << 30, 1};
    instance.architecture = "x86_64";
    instance.tags = {"ci"};
    instance.own_name = "web-1";
    instance.instance_type = "g2.3";
    instance.layers = {std::string(64, 'a'), "v0"};
    instance.init = "/sbin/init";
    instance.image_variant = "android";
    instance.ready = ReadinessCheck{"/run/ready", "true", 80};
    instance.user_data = "secret data";
    instance.no_start = true;
    instance.stop_requested = true;
    instance.paused = true;
    instance.pooled = true;
    instance.wanted_node = "node0";
    instance.start_requested_at = from_rfc3339("2024-01-02T03:04:06.5Z");
    instance.start_mark = {"4b3f1c5e-0000-4000-8000-000000000001", SteadyTime(Duration(5'000'000'001))};
    instance.stopped_at = from_rfc3339("2024-01-02T03:04:07Z");
    instance.stop_mark = {"4b3f1c5e-0000-4000-8000-000000000001", SteadyTime(Duration(6'000'000'000))};
    instance.task_id = "c5pvhr3fbn40000000b1";
    instance.launch_operation = "00000000-0000-4000-8000-000000000001";
    return instance;
}

TEST_CASE("the record of an instance") {
    check_golden("unit/model/golden/instance.json", test::record_of(sample_instance()));
    Instance fresh;
    fresh.id = InstanceId("c5pvhr3fbn40000000b0");
    fresh.config.change([](InstanceConfig& config) { config.platform = "null"; });
    CHECK(fresh.name() == "svc-c5pvhr3fbn40000000b0");
    check_golden("unit/model/golden/instance_created.json", test::record_of(fresh));
}

TEST_CASE("an instance is stored whole, read back and checked") {
    test::check_record_codec<Instance>({"instance_stored.json",
                                        sample_instance(),
                                        instance_to_store,
                                        instance_from_store,
                                        {"id", "type", "status", "created_at"},
                                        {}});
    const Instance instance = instance_from_store(instance_to_store(sample_instance()));
    CHECK(test::record_of(instance) == test::record_of(sample_instance()));
    CHECK(instance.created_at == sample_instance().created_at);
    CHECK(instance.ready == sample_instance().ready);
    CHECK(instance_to_store(instance_from_store(instance_to_store(Instance()))) ==
          instance_to_store(Instance()));
}

TEST_CASE("a limited lifetime is shown and stored, in a record that an earlier program does not read") {
    Instance instance = sample_instance();
    instance.pooled = false;
    CHECK(instance_to_store(instance).at("schema") == Json(3));
    CHECK(test::record_of(instance).find("expires_at") == nullptr);
    CHECK(test::record_of(instance).find("idle_after") == nullptr);
    instance.lifetime = {from_rfc3339("2024-01-02T05:04:05.25Z"), std::chrono::minutes(90),
                         from_rfc3339("2024-01-02T03:04:05.5Z")};
    CHECK(instance_to_store(instance).at("schema") == Json(6));
    CHECK(instance_from_store(instance_to_store(instance)).lifetime == instance.lifetime);
    const Json shown = test::record_of(instance);
    CHECK(shown.at("expires_at") == Json(to_unix_seconds(instance.lifetime.expires_at)));
    CHECK(shown.at("idle_after") == Json("1h30m"));
    CHECK(shown.at("used_at") == Json(to_unix_seconds(instance.lifetime.used_at)));
}

TEST_CASE("an instance of a pool is stored in a record that an earlier program does not read") {
    Instance instance = sample_instance();
    instance.lifetime.idle_after = std::chrono::minutes(1);
    CHECK(instance_to_store(instance).at("schema") == Json(7));
    CHECK(instance_from_store(instance_to_store(instance)).pooled);
    instance.pooled = false;
    CHECK(instance_to_store(instance).at("schema") == Json(6));
}

TEST_CASE("an instance that schema 6 has stored belongs to no pool, and keeps its lifetime") {
    Instance instance = sample_instance();
    instance.pooled = false;
    instance.lifetime.idle_after = std::chrono::minutes(1);
    Json stored = instance_to_store(instance);
    stored.erase("pooled");
    const Instance read = instance_from_store(stored);
    CHECK_FALSE(read.pooled);
    CHECK(read.lifetime == instance.lifetime);
    CHECK(instance_to_store(read) == instance_to_store(instance));
}

TEST_CASE("an instance stored with one layer is read as one with layers") {
    Json stored = instance_to_store(sample_instance());
    stored.erase("layers");
    stored.set("layer", "only");
    stored.set("schema", 1);
    CHECK(instance_from_store(stored).layers == std::vector<std::string>{"only"});
    stored.erase("layer");
    CHECK(instance_from_store(stored).layers.empty());
}

TEST_CASE("logs that an earlier version has stored are read by their names") {
    Json stored = instance_to_store(sample_instance());
    stored.set("stored_logs", Json::array({"console.log"}));
    CHECK(instance_from_store(stored).stored_logs == std::vector<StoredLog>{{"console.log", ""}});
    CHECK(instance_from_store(instance_to_store(instance_from_store(stored))).stored_logs ==
          instance_from_store(stored).stored_logs);
}

TEST_CASE("an instance made from an application is stored whole") {
    Instance instance = sample_instance();
    PackageRef package;
    package.name = "ssh";
    package.hooks = {"pre-start"};
    package.fetch = true;
    instance.packages = {package};
    instance.app_name = "candy";
    instance.app.change([](AppSetup& app) {
        app.name = "candy";
        app.watchdog_allowed_packages = {"*"};
    });
    instance.features = {"a", "b"};
    instance.node_selector = {"fast"};
    instance.gpu_type = "intel";
    instance.prefers_gpu_encoder = instance.needs_gpu_encoder = instance.end_hooks_due = true;
    instance.gpu_encoder_slots = 1;
    instance.gpus = {1, 0};
    instance.notes = {"no package manager"};
    const Json stored = instance_to_store(instance);
    const Instance read = instance_from_store(stored);
    CHECK(instance_to_store(read) == stored);
    CHECK(read.packages == instance.packages);
    CHECK(read.gpus == instance.gpus);
    CHECK(read.end_hooks_due);
    CHECK(test::record_of(read).at("app_name").as_string() == "candy");
}

TEST_CASE("the record never shows what is the service's own") {
    CHECK(test::record_of(sample_instance()).dump().find("secret data") == std::string::npos);
}

TEST_CASE("every instance status has its text, both ways") {
    const auto [code, text] = GENERATE(table<int, const char*>({{-1, "error"},
                                                                {0, "unknown"},
                                                                {1, "created"},
                                                                {2, "prepared"},
                                                                {3, "started"},
                                                                {4, "running"},
                                                                {5, "stopped"},
                                                                {6, "deleted"}}));
    CHECK(to_text(static_cast<InstanceStatus>(code)) == text);
    CHECK(parse_instance_status(text) == static_cast<InstanceStatus>(code));
    CHECK_FALSE(parse_instance_status("Running"));
}

TEST_CASE("an instance moves only along its state machine") {
    const std::set<std::pair<InstanceStatus, InstanceStatus>> allowed{
        {created, prepared}, {created, error},   {created, deleted}, {prepared, started}, {prepared, error},
        {prepared, deleted}, {started, running}, {started, stopped}, {started, error},    {started, deleted},
        {running, stopped},  {running, error},   {running, deleted}, {stopped, started},  {stopped, error},
        {stopped, deleted},  {error, started},   {error, deleted},   {unknown, error},    {unknown, deleted}};
    const auto all = {error, unknown, created, prepared, started, running, stopped, deleted};
    for (const InstanceStatus from : all)
        for (const InstanceStatus to : all) {
            INFO(to_text(from) << " to " << to_text(to));
            CHECK(may_move(from, to) == allowed.contains({from, to}));
        }
}

TEST_CASE("instance types") {
    CHECK(to_text(InstanceType::regular) == "regular");
    CHECK(to_text(InstanceType::base) == "base");
    CHECK(to_text(InstanceType::unknown) == "unknown");
    for (const int cpus : {2, 4, 6, 8, 10})
        for (const int slots : {0, 1}) {
            const auto found = instance_type_resources((slots ? "g" : "a") + std::to_string(cpus) + ".3");
            REQUIRE(found);
            CHECK(found->cpus == cpus);
            CHECK(found->memory == 3ULL << 30);
            CHECK(found->disk == 3ULL << 30);
            CHECK(found->gpu_slots == slots);
        }
    for (const char* name : {"", "a3.3", "a2", "A2.3", "a2.3 "}) CHECK_FALSE(instance_type_resources(name));
}

TEST_CASE("resources leave out what is not set") {
    CHECK(InstanceResources{2, 3ULL << 30, 3ULL << 30, 1}.to_json().dump() ==
          R"({"cpus":2,"memory":"3GB","disk-size":"3GB","gpu-slots":1})");
    CHECK(InstanceResources{0, 0, 0, -1}.to_json().dump() == "{}");
}

ServiceEntry service(std::uint16_t port, std::uint16_t end, std::vector<std::string> protocols) {
    return {"", port, end, 0, 0, std::move(protocols), false};
}

TEST_CASE("services of one instance do not share a port of one protocol") {
    CHECK_NOTHROW(
        check_services({service(80, 0, {"tcp"}), service(80, 0, {"udp"}), service(81, 90, {"tcp"})}));
    const auto message = [](const ServiceEntry& a, const ServiceEntry& b) {
        return test::message_of([&] { check_services({a, b}); });
    };
    const std::string overlap = "argument services[1].port is invalid: overlaps with services[0]";
    CHECK(message(service(80, 0, {"tcp"}), service(80, 0, {"udp", "tcp"})) == overlap);
    CHECK(message(service(80, 90, {"tcp"}), service(90, 0, {"tcp"})) == overlap);
    CHECK(message(service(85, 0, {"tcp"}), service(80, 90, {"tcp"})) == overlap);
    CHECK(message(service(80, 89, {"tcp"}), service(90, 0, {"tcp"})).empty());
}

TEST_CASE("a port range counts its ports") {
    CHECK(service(80, 0, {}).count() == 1);
    CHECK(service(80, 80, {}).count() == 1);
    CHECK(service(80, 89, {}).count() == 10);
}

}  // namespace
}  // namespace svc

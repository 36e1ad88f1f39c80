#include "server/gateway/options.h"

#include <catch2/catch.hpp>

#include "server/gateway/settings.h"
#include "tests/support/options_file.h"

namespace svc::gateway {

namespace {

using namespace std::chrono_literals;

struct Setup : test::OptionsFile<Options> {
    const std::string pem = directory.path() / "some.pem";

    Setup() : OptionsFile("svc-gateway", read_options) { write_file_atomically(pem, "pem"); }
};

}  // namespace

TEST_CASE_METHOD(Setup, "gateway options have the documented defaults") {
    const Options options = read();
    CHECK(options.state_dir == "/var/lib/svc-gateway");
    CHECK(options.socket == "/run/svc-gateway/unix.socket");
    CHECK(options.listen == "[::]:4000");
    CHECK(options.metrics_listen == "127.0.0.1:9105");
    CHECK(options.metrics_user.empty());
    CHECK_FALSE(options.tls12);
    CHECK(options.regions.empty());
    CHECK(options.streamer_addons == std::vector<std::string>{"svc-streamer"});
    CHECK(options.allowed_origins == std::vector<std::string>{"*"});
    CHECK(options.frame_ancestors.empty());
    CHECK(options.location == "stream-gateway");
    CHECK(options.log_level == log::Level::info);
}

TEST_CASE_METHOD(Setup, "a whole file is read") {
    write(
        "state_dir: /a\nlisten: 127.0.0.1:1\npublic_url: https://gw.example/\ntls12: true\nmetrics:\n"
        "  listen: none\n  user: u\n  password: p\n"
        "regions:\n- name: east\n  url: https://east.example:8444\n  certificate: " +
        pem + "\n  key: " + pem + "\n  server_fingerprint: " + std::string(64, 'A') +
        "\n  metrics_server: influxdb:192.0.2.1:8095\n- name: here\n  url: "
        "unix:///run/svc/unix.socket\n"
        "stun: {urls: ['stun:a:1']}\nturn:\n  urls: turn:b:2\n  secret: s\n  ttl: 1h\n"
        "streamer_addons: [shower, other]\n"
        "limits: {launch: 1m, streamer: 20s, deletion: 30, keep: 0, keep_failed: 2h, silent: 3m, "
        "client_token: 2m, idle: 45m, "
        "sessions: 7, "
        "creations_per_minute: "
        "100}\n"
        "frame_ancestors: ['https://a.example:8444', 'https://b.example']\n"
        "cors: {origins: ['https://a.example', 'http://b:8080']}\nlog_level: debug\n");
    const Options options = read();
    CHECK(options.public_url == "https://gw.example");
    CHECK(options.tls12);
    CHECK(options.metrics_listen.empty());
    CHECK(options.metrics_user == "u");
    REQUIRE(options.regions.size() == 2);
    CHECK(options.regions[0].server_fingerprint == std::string(64, 'a'));
    CHECK(options.regions[0].certificate == pem);
    CHECK(options.regions[0].metrics_server == "influxdb:192.0.2.1:8095");
    CHECK(options.regions[1].urls == std::vector<std::string>{"unix:///run/svc/unix.socket"});
    CHECK(options.streamer_addons == std::vector<std::string>{"shower", "other"});
    CHECK(options.ice.stun_urls == std::vector<std::string>{"stun:a:1"});
    CHECK(options.ice.turn_urls == std::vector<std::string>{"turn:b:2"});
    CHECK(options.ice.turn_ttl == 1h);
    CHECK(options.limits.launch == 1min);
    CHECK(options.limits.streamer == 20s);
    CHECK(options.limits.deletion == 30s);
    CHECK(options.limits.keep == 0s);
    CHECK(options.limits.keep_failed == 2h);
    CHECK(options.limits.silent == 3min);
    CHECK(options.limits.client_token == 2min);
    CHECK(options.limits.idle == 45min);
    CHECK(options.limits.sessions == 7);
    CHECK(options.limits.creations_per_minute == 100);
    CHECK(options.allowed_origins == std::vector<std::string>{"https://a.example", "http://b:8080"});
    CHECK(options.frame_ancestors == std::vector<std::string>{"https://a.example:8444", "https://b.example"});
    CHECK(options.log_level == log::Level::debug);
}

TEST_CASE_METHOD(Setup, "gateway flags win over the file") {
    write("state_dir: /a\nlisten: 127.0.0.1:1\nlog_level: debug\n");
    const Options options =
        read({"--state-dir", "/b", "--listen=[::1]:0", "--instance-url", "http://192.0.2.1:4000",
              "--metrics-listen", "none", "--tls12", "--log-level", "error"});
    CHECK(options.state_dir == "/b");
    CHECK(options.listen == "[::1]:0");
    CHECK(options.instance_url == "http://192.0.2.1:4000");
    CHECK(options.metrics_listen.empty());
    CHECK(options.tls12);
    CHECK(options.log_level == log::Level::error);
    CHECK(test::message_of([&] { read({"--listen", "4000"}); }).starts_with("--listen: argument listen"));
    CHECK_FALSE(test::message_of([&] { read({"--config", "/nonexistent.yaml"}); }).empty());
    CHECK_FALSE(test::message_of([&] { read({"--tls-key", pem}); }).empty());
}

TEST_CASE_METHOD(Setup, "pages that may have the gateway's page in a frame are origins") {
    CHECK(read({"--frame-ancestors", "https://a:1,https://b"}).frame_ancestors ==
          std::vector<std::string>{"https://a:1", "https://b"});
    CHECK(test::message_of([&] {
              read({"--frame-ancestors", "https://a:1/ui/"});
          }) ==
          "--frame-ancestors: argument frame_ancestors is invalid: 'https://a:1/ui/' is not an origin "
          "https://HOST or https://HOST:PORT, without a path");
}

TEST_CASE_METHOD(Setup, "several gateways share a store and have a listener for each other") {
    const Options options =
        read({"--store", "etcd", "--etcd-endpoints", "http://a:1,https://b:2", "--etcd-ca", pem,
              "--gateway-listen", "127.0.0.1:0", "--gateway-name", "g1", "--new-cluster", "yes"});
    CHECK(options.store == "etcd");
    CHECK(options.etcd.endpoints == std::vector<std::string>{"http://a:1", "https://b:2"});
    CHECK(options.etcd.authorities == pem);
    CHECK(options.etcd.new_cluster);
    CHECK(options.gateway_listen == "127.0.0.1:0");
    CHECK(options.gateway_name == "g1");
    const std::string together = "store: etcd and gateway_listen go together";
    CHECK(test::message_of([&] { read({"--store", "etcd"}); }) == together);
    CHECK(test::message_of([&] { read({"--gateway-listen", "127.0.0.1:0"}); }) == together);
    CHECK(test::message_of([&] {
              read({"--etcd-endpoints", "a:1"});
          }).find("'a:1' does not begin with") != std::string::npos);
}

TEST_CASE_METHOD(Setup, "a region may have several managers") {
    write("regions:\n- name: a\n  url: [unix:///s, 'https://b:2']\n  certificate: " + pem +
          "\n  key: " + pem + "\n");
    CHECK(read().regions.at(0).urls == std::vector<std::string>{"unix:///s", "https://b:2"});
    CHECK(refusal("regions:\n- name: a\n  url: [unix:///s, 'https://b:2']\n")
              .starts_with(file.string() + ":2: regions[0].certificate is required"));
    CHECK(refusal("regions:\n- name: a\n  url: []\n") == file.string() + ":2: regions[0].url is required");
}

TEST_CASE_METHOD(Setup, "a fault in the gateways file names file line and key") {
    const std::string name = file.string();
    CHECK(refusal("state_dir: /a\nspeed: 3\n") == name + ":2: unknown key 'speed'");
    CHECK(refusal("\nlimits:\n  launch: 1m\n  # more\n  sessions: many\n") ==
          name + ":5: argument limits.sessions is invalid: must be a number from 0 on");
    CHECK(refusal("turn:\n  urls: [turn:a:1]\n") ==
          name + ":1: turn.secret is required: it makes the credentials");
    CHECK(refusal("metrics: {user: u, color: red}\n") == name + ":1: unknown key 'metrics.color'");
    CHECK(refusal("regions:\n  - name: a\n    url: unix:///s\n  - name: b\n    url: ftp://x\n")
              .starts_with(name + ":5: regions[1].url: address"));
    CHECK(refusal("regions:\n- name: a\n  url: unix:///s\n- name: a\n  url: unix:///s\n") ==
          name + ":4: region 'a' is there twice");
    CHECK(
        refusal("regions:\n- name: a\n  url: https://a\n").starts_with(name + ":2: regions[0].certificate"));
    CHECK(refusal("regions:\n- name: a\n  url: https://a\n  certificate: /nonexistent\n  key: /nonexistent\n")
              .starts_with(name + ":4: argument regions[0].certificate is invalid"));
    CHECK(refusal("a: [\n").starts_with(name + ": malformed YAML at line "));
    CHECK(refusal("- a\n") == name + ":1: must be a map of keys to values");
}

TEST_CASE_METHOD(Setup, "gateway values out of range are refused") {
    for (const char* line : {"listen: none",
                             "listen: 4000",
                             "metrics: {user: u}",
                             "metrics: {user: 'a:b', password: p}",
                             "metrics: 9105",
                             "public_url: gw.example",
                             "public_url: unix:///x",
                             "public_url: https://gw/path",
                             "instance_url: ftp://x",
                             "stun: {urls: [stun]}",
                             "stun: {urls: ['turn:a:1']}",
                             "turn: {urls: ['turn:a:1'], secret: s, ttl: 3s}",
                             "turn: {urls: [7], secret: s}",
                             "limits: {launch: 0}",
                             "limits: {silent: 0}",
                             "limits: {streamer: 0}",
                             "limits: {idle: 90s}",
                             "limits: {idle: 9000h}",
                             "streamer_addons: ['a b']",
                             "limits: {sessions: 0}",
                             "frame_ancestors: '*'",
                             "frame_ancestors: ['https://a', 'http://b']",
                             "cors: {origins: [example]}",
                             "cors: {origins: ['https://a/b']}",
                             "regions: {}",
                             "regions: [{}]",
                             "regions: [{name: 'a b', url: 'unix:///s'}]",
                             "tls_key: /nonexistent",
                             "tls12: maybe",
                             "log_level: loud",
                             "state_dir: ''"}) {
        INFO(line);
        CHECK_FALSE(refusal(std::string(line) + "\n").empty());
    }
}

TEST_CASE("every setting of the gateway is documented once") {
    test::check_documented_once(settings(), "svc-gateway.md");
}

}  // namespace svc::gateway

#include <catch2/catch.hpp>

#include "server/options.h"
#include "server/settings.h"
#include "tests/support/options_file.h"

namespace svc::server {

namespace {

struct Setup : test::OptionsFile<Options> {
    Setup() : OptionsFile("svcd", read_options) {}
};

}  // namespace

TEST_CASE_METHOD(Setup, "options have the documented defaults") {
    const Options options = read();
    CHECK(options.state_dir == "/var/lib/svc");
    CHECK(options.socket == "/run/svc/unix.socket");
    CHECK(options.listen == std::vector<std::string>{"[::]:8444"});
    CHECK(options.metrics_listen == "127.0.0.1:20002");
    CHECK(options.hypervisor_listen == "127.0.0.1:8443");
    CHECK(options.runtime == "lxc");
    CHECK(options.store == "sqlite");
    CHECK(options.lxc.bridge == "svcbr0");
    CHECK(options.lxc.subnet == "192.168.100.1/20");
    CHECK(options.log_level == log::Level::info);
}

TEST_CASE_METHOD(Setup, "flags win over the file") {
    write("state_dir: /a\nlisten: ['127.0.0.1:1', '127.0.0.1:2']\nmax_upload: 2GB\nlog_level: debug\n");
    const Options options = read({"--state-dir", "/b", "--listen", "[::1]:0", "--listen=localhost:3"});
    CHECK(options.state_dir == "/b");
    CHECK(options.listen == std::vector<std::string>{"[::1]:0", "localhost:3"});
    CHECK(options.max_upload == std::uint64_t{2} << 30U);
    CHECK(options.log_level == log::Level::debug);
    CHECK(options.config == file);
}

TEST_CASE_METHOD(Setup, "none switches a listener off") {
    const Options options =
        read({"--listen", "none", "--metrics-listen", "none", "--hypervisor-listen", "none"});
    CHECK(options.listen.empty());
    CHECK(options.metrics_listen.empty());
    CHECK(options.hypervisor_listen.empty());
    CHECK(test::code_of([&] {
              read({"--listen", "none", "--listen", "[::]:1"});
          }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(Setup, "members of etcd are a list, or text with commas between") {
    const std::vector<std::string> members{"http://a:2379", "https://[::1]:2379"};
    CHECK(read({"--etcd-endpoints", "http://a:2379,https://[::1]:2379"}).etcd.endpoints == members);
    write("store: etcd\netcd_endpoints: ['http://a:2379', 'https://[::1]:2379']\netcd_ca: /ca\n");
    CHECK(read().etcd.endpoints == members);
    CHECK(read().store == "etcd");
    CHECK(read().etcd.authorities == "/ca");
}

TEST_CASE_METHOD(Setup, "an LXD is named by its socket or by its address") {
    CHECK(read({"--runtime", "lxd", "--lxd", "unix:/run/lxd"}).lxd.url == "unix:///run/lxd");
    CHECK(read({"--lxd", "https://[::1]:8443", "--lxd-cert", "/c"}).lxd.certificate == "/c");
    for (const char* url : {"http://a:8443", "unix:relative", "a:8443", ""})
        CHECK(test::code_of([&] { read({"--lxd", url}); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(Setup, "a fault in the file names file line and key") {
    CHECK(refusal("state_dir: /a\nspeed: 3\n") == file.string() + ":2: unknown key 'speed'");
    CHECK(refusal("# comment\n\nworkers: many\n") ==
          file.string() + ":3: argument workers is invalid: must be a number from 0 on");
    CHECK(refusal("runtime: docker\n")
              .starts_with(file.string() + ":1: argument runtime is invalid: 'docker'"));
    CHECK(refusal("a: [\n").starts_with(file.string() + ": malformed YAML at line "));
    CHECK(refusal("- a\n") == file.string() + ":1: must be a map of keys to values");
}

TEST_CASE_METHOD(Setup, "values out of range are refused") {
    for (const char* line : {"subnet: 8.8.8.8/20",
                             "subnet: 192.168.1.1/31",
                             "bridge: much-too-long-name",
                             "workers: 0",
                             "port_range: 9-3",
                             "port_range: 0-3",
                             "listen: 8444",
                             "listen: '::1:80'",
                             "boot_timeout: soon",
                             "simulated_fail_share: 1.5",
                             "max_body: -1",
                             "node_name: -a",
                             "store: postgres",
                             "etcd_endpoints: 'a:2379'",
                             "etcd_endpoints: ''",
                             "etcd_endpoints: 'unix:///socket'",
                             "etcd_endpoints: 'http://a:0'",
                             "etcd_ca: ''",
                             "log_level: 3",
                             "header_timeout: 0",
                             "state_dir: ''",
                             "address: 1.2.3",
                             "max_buffered: 1000",
                             "max_peer_connections: 0",
                             "max_instance_connections: 0",
                             "min_rate: slow",
                             "reserved_connections: -1",
                             "guest_ports: 80",
                             "guest_ports: 0/tcp",
                             "guest_ports: 9-3/udp",
                             "guest_ports: 70000/tcp",
                             "guest_ports: 80/sctp",
                             "guest_ports: [none, 80/tcp]",
                             "guest_ports: '-/tcp'",
                             "isolate_instances: maybe",
                             "name_servers: dns.example",
                             "name_servers: [none, 1.1.1.1]",
                             "name_servers: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4, 1.1.1.5]",
                             "require_disk_limits: perhaps",
                             "cluster_subnet: 10.64.0.1/12",
                             "cluster_subnet: 10.64.0.0",
                             "cluster_subnet: 10.64.0.0/31",
                             "cluster_routes: perhaps",
                             "node_prefix: 31",
                             "instance_bandwidth: 100",
                             "instance_bandwidth: 1Kbit",
                             "instance_bandwidth: 100mbit",
                             "instance_bandwidth: 999999999Gbit",
                             "instance_bandwidth: -1Mbit",
                             "instance_connections: -1"})
        CHECK_FALSE(refusal(std::string(line) + "\n").empty());
}

TEST_CASE_METHOD(Setup, "a part of the cluster's network is taken unless a subnet was given") {
    CHECK_FALSE(read().lxc.subnet_given);
    CHECK(read().lxc.cluster_subnet == "10.64.0.0/12");
    CHECK(read().lxc.cluster_routes);
    CHECK(read({"--subnet", "192.168.100.1/20"}).lxc.subnet_given);
    write("cluster_subnet: 10.32.0.0/16\nnode_prefix: 24\ncluster_routes: no\n");
    const Options options = read();
    CHECK(options.lxc.cluster_subnet == "10.32.0.0/16");
    CHECK(options.lxc.node_prefix == 24);
    CHECK_FALSE(options.lxc.cluster_routes);
}

TEST_CASE_METHOD(Setup, "name servers for guests are addresses") {
    CHECK(read().lxc.name_servers.empty());
    CHECK(read({"--name-servers", "1.1.1.1", "--name-servers", "9.9.9.9"}).lxc.name_servers ==
          std::vector<std::string>{"1.1.1.1", "9.9.9.9"});
    write("name_servers: 10.0.0.1\n");
    CHECK(read().lxc.name_servers == std::vector<std::string>{"10.0.0.1"});
    CHECK(read({"--name-servers", "none"}).lxc.name_servers.empty());
}

TEST_CASE_METHOD(Setup, "what instances may do on the network is told by flags or the file") {
    const Options defaults = read();
    CHECK(defaults.lxc.guest_ports.empty());
    CHECK(defaults.lxc.isolate);
    CHECK(defaults.lxc.bandwidth == 0);
    CHECK(defaults.lxc.connections == 4096);
    const Options flags = read({"--guest-ports", "4000/tcp", "--guest-ports", "5000-5010/udp",
                                "--isolate-instances", "no", "--instance-bandwidth", "100Mbit"});
    REQUIRE(flags.lxc.guest_ports.size() == 2);
    CHECK(flags.lxc.guest_ports[0].tcp);
    CHECK(flags.lxc.guest_ports[0].last == 4000);
    CHECK_FALSE(flags.lxc.guest_ports[1].tcp);
    CHECK(flags.lxc.guest_ports[1].first == 5000);
    CHECK(flags.lxc.guest_ports[1].last == 5010);
    CHECK_FALSE(flags.lxc.isolate);
    CHECK(flags.lxc.bandwidth == 100'000'000);
    write(
        "guest_ports: [80/tcp, 90/udp]\nisolate_instances: false\ninstance_bandwidth: 800Kbit\n"
        "instance_connections: 0\n");
    const Options file_values = read();
    CHECK(file_values.lxc.guest_ports.size() == 2);
    CHECK_FALSE(file_values.lxc.isolate);
    CHECK(file_values.lxc.bandwidth == 800'000);
    CHECK(file_values.lxc.connections == 0);
    write("guest_ports: none\ninstance_bandwidth: none\n");
    CHECK(read().lxc.guest_ports.empty());
    CHECK(read().lxc.bandwidth == 0);
}

TEST_CASE_METHOD(Setup, "the shares of memory follow from the whole") {
    write(
        "max_buffered: 32MB\nmin_rate: 0\nreserved_connections: 3\nmax_peer_connections: 4\n"
        "max_instance_connections: 5\n");
    const Options options = read();
    CHECK(options.limits.buffered_bytes == 32U << 20U);
    CHECK(options.limits.untrusted_bytes == 8U << 20U);
    CHECK(options.limits.untrusted_bytes_each == 1U << 20U);
    CHECK(options.limits.min_rate == 0);
    CHECK(options.limits.reserved_connections == 3);
    CHECK(options.peer_connections == 4);
    CHECK(options.instance_connections == 5);
}

TEST_CASE_METHOD(Setup, "a named file must be there the default one need not") {
    CHECK(read().config.empty());
    CHECK_FALSE(test::message_of([&] { read({"--config", "/nonexistent/svcd.yaml"}); }).empty());
}

TEST_CASE_METHOD(Setup, "an empty file and null values change nothing") {
    write("");
    CHECK(read().workers == Options{}.workers);
    write("workers:\n");
    CHECK(read().workers == Options{}.workers);
}

TEST_CASE("every setting is documented once") {
    test::check_documented_once(settings(), "svcd.md");
}

}  // namespace svc::server

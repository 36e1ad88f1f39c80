#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "server/metrics/history_sampler.h"
#include "server/metrics/metrics_history.h"
#include "tests/support/eventually.h"
#include "tests/support/service_world.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

using server::HistorySample;
using server::MetricsHistory;

HistorySample sample_at(std::int64_t time) {
    HistorySample sample;
    sample.time = time;
    return sample;
}

server::NodeSample node_sample(const std::string& name, std::uint32_t launches, float seconds) {
    server::NodeSample node;
    node.name = name;
    node.instances = 3;
    node.launches = launches;
    node.launch_seconds = seconds;
    return node;
}

std::vector<std::string> names_of(const Json& nodes) {
    std::vector<std::string> names;
    for (const Json& node : nodes.as_array()) names.push_back(node.at("name").as_string());
    return names;
}

// A service whose samples a test takes by hand.
struct HistoryWorld : ServiceWorld {
    server::RequestCounts requests;
    server::HistorySampler sampler{{nodes(), instances(), engine(), bus, requests, clock}};

    std::shared_ptr<const Operation> launch() {
        InstanceCreate create;
        create.image_id = "base";
        create.instance_type = "a2.3";
        return wait(instances().launch(create, false, PathWord::containers, "test"));
    }
};

}  // namespace

TEST_CASE("the history keeps an hour, and gives what is newer than a time") {
    MetricsHistory history;
    CHECK(history.empty());
    for (std::int64_t i = 0; i < 400; ++i) history.add(sample_at(1000 + i * 10));
    const Json all = history.read({});
    CHECK(all.at("times").as_array().size() == MetricsHistory::kept);
    CHECK(all.at("times").as_array().front().as_int() == 1400);
    CHECK(all.at("interval").as_int() == 10);
    CHECK(all.at("kept").as_int() == 3600);
    const Json newer = history.read({4970});
    CHECK(newer.at("times") == Json::array({4980, 4990}));
    CHECK(newer.at("instances").at("running").as_array().size() == 2);
    CHECK(newer.at("launches").at("p95") == Json::array({nullptr, nullptr}));
}

TEST_CASE("the slowest nodes of the hour come first, and not more than were asked for") {
    MetricsHistory history;
    HistorySample first = sample_at(10), second = sample_at(20);
    first.of_nodes = {node_sample("a", 2, 4), node_sample("b", 1, 9), node_sample("gone", 1, 99)};
    second.of_nodes = {node_sample("a", 1, 8), node_sample("b", 0, 0), node_sample("c", 0, 0)};
    history.add(first);
    history.add(second);
    const Json nodes = history.read({}).at("slowest_nodes");
    CHECK(names_of(nodes) == std::vector<std::string>{"b", "a", "c"});
    CHECK(nodes.as_array()[1].at("launch_duration").as_double() == 4);
    CHECK(nodes.as_array()[1].at("launches").as_int() == 3);
    CHECK(nodes.as_array()[2].at("launch_duration").is_null());
    CHECK(names_of(history.read({0, 1}).at("slowest_nodes")) == std::vector<std::string>{"b"});
}

TEST_CASE("the columns of a node are null where it was not there") {
    MetricsHistory history;
    history.add(sample_at(10));
    HistorySample second = sample_at(20);
    second.of_nodes = {node_sample("a", 2, 5)};
    history.add(second);
    CHECK(history.read({}).find("node") == nullptr);
    const Json node = history.read({0, 0, "a"}).at("node");
    CHECK(node.at("instances") == Json::array({nullptr, 3}));
    CHECK(node.at("launch_duration") == Json::array({nullptr, 2.5}));
}

TEST_CASE("a sample has what has happened since the one before, and what there is") {
    HistoryWorld world;
    world.add_image("base");
    world.sampler.take();
    REQUIRE(world.launch()->err.empty());
    world.sampler.started(Interned<std::string>(std::string("node0")), 1);
    world.sampler.started(Interned<std::string>(std::string("node0")), 3);
    for (const int status : {200, 404, 500, 0}) world.requests.served(status);
    world.clock.advance(std::chrono::seconds(10));
    const HistorySample sample = world.sampler.take();
    CHECK(sample.time == to_unix_seconds(world.clock.now()));
    CHECK(sample.instances[4] == 1);
    CHECK(sample.launches_begun == 1);
    CHECK(sample.launches_succeeded == 1);
    CHECK(sample.launches_failed == 0);
    CHECK(sample.launch_durations.p95 == 3.);
    CHECK(sample.requests == 4);
    CHECK(sample.requests_refused == 1);
    CHECK(sample.requests_failed == 2);
    CHECK(sample.nodes_online == 1);
    CHECK(sample.cpus.total == 16);
    CHECK(sample.cpus.used == 2);
    REQUIRE(sample.of_nodes.size() == 1);
    CHECK(sample.of_nodes[0].launches == 2);
    CHECK(sample.of_nodes[0].disk == (3ULL << 30));

    const HistorySample next = world.sampler.take();
    CHECK(next.launches_begun == 0);
    CHECK(next.requests == 0);
    CHECK_FALSE(next.launch_durations.p50);
    CHECK(next.instances[4] == 1);
}

TEST_CASE("a launch that fails is counted as one, and stopped instances reserve no CPUs") {
    HistoryWorld world;
    world.add_image("base");
    world.guests_report = false;
    InstanceCreate create;
    create.image_id = "base";
    create.instance_type = "a2.3";
    const Started started = world.instances().launch(create, false, PathWord::containers, "test");
    const std::string id = started->arguments.at("instance").as_string();
    eventually("the instance is started",
               [&] { return world.records().get(id)->status == InstanceStatus::started; });
    const HistorySample meanwhile = world.sampler.take();
    CHECK(meanwhile.launches_begun == 1);
    CHECK(meanwhile.operations_running == 1);
    CHECK(meanwhile.operations_queued == 0);
    world.report(id, "error", "no screen");
    CHECK_FALSE(world.wait(started)->err.empty());
    const HistorySample sample = world.sampler.take();
    CHECK(sample.launches_failed == 1);
    CHECK(sample.instances[0] == 1);
    CHECK(sample.cpus.used == 0);
    CHECK(sample.of_nodes.at(0).instances == 1);
}

TEST_CASE("the first sample is there soon after the start, and bad queries are refused") {
    TestDaemon daemon;
    Json history;
    eventually("there is a sample", [&] {
        history = daemon.api().get("/1.0/metrics/history").metadata();
        return !history.at("times").as_array().empty();
    });
    CHECK(history.at("nodes").at("online") == Json::array({1}));
    const std::string newest = std::to_string(history.at("times").as_array().back().as_int());
    CHECK(daemon.api().get("/1.0/metrics/history?nodes=256&since=" + newest).status == 200);
    for (const std::string query : {"since=soon", "nodes=257", "nodes=x"}) {
        INFO(query);
        CHECK(daemon.api().get("/1.0/metrics/history?" + query).status == 400);
    }
    CHECK(daemon.api().get("/1.0/metrics/history?node=nothing").status == 404);
}

}  // namespace svc::test

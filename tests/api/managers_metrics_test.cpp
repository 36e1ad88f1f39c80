// Several managers: the figures of each, and how they move.
#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "tests/api/metric_value.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_managers.h"

namespace svc::test {

namespace {

struct Scraped {
    explicit Scraped(const TestManagers& managers, std::size_t manager)
        : text(ApiCaller(managers.metrics_target(manager)).get("/internal/1.0/metrics").text) {}
    double operator[](const std::string& series) const { return value(text, series); }
    std::string text;
};

std::string status_of(const std::string& node, const std::string& status) {
    return "svc_cluster_node_status{node=\"" + node + "\",status=\"" + status + "\"}";
}

}  // namespace

TEST_CASE("every manager tells who leads and which managers live") {
    TestManagers managers(3);
    CHECK(Scraped(managers, 0)["svc_manager_leader{manager=\"m0\"}"] == 0);
    CHECK(Scraped(managers, 0)["svc_manager_term"] == 0);
    managers.lead(0);
    const Scraped leader(managers, 0), follower(managers, 1);
    CHECK(leader["svc_manager_leader{manager=\"m0\"}"] == 1);
    CHECK(follower["svc_manager_leader{manager=\"m1\"}"] == 0);
    CHECK(follower["svc_manager_term"] == 1);
    CHECK(follower["svc_manager_takeovers_total"] == 0);
    for (const char* series : {"svc_packages_needed", "svc_packages_single", "svc_packages_missing"})
        CHECK(leader[series] == 0);
    for (const char* name : {"m0", "m1", "m2"})
        CHECK(follower["svc_manager_living{manager=\"" + std::string(name) + "\"}"] == 1);
    eventually("all machines are nodes",
               [&] { return Scraped(managers, 1)["svc_cluster_nodes_total"] == 3; });
    managers.kill(0);
    managers.lead(2);
    const Scraped after(managers, 1);
    CHECK(Scraped(managers, 2)["svc_manager_leader{manager=\"m2\"}"] == 1);
    CHECK(after["svc_manager_term"] == 2);
    CHECK(after["svc_manager_takeovers_total"] == 1);
    CHECK(after["svc_manager_living{manager=\"m0\"}"] == 0);
    CHECK(after["svc_manager_living{manager=\"m2\"}"] == 1);
}

TEST_CASE("a manager whose lease may be over is no leader, and stops no instance") {
    TestManagers managers(1);
    managers.lead(0);
    managers.api(0).add_image("base", image_package());
    const std::string instance = managers.api(0).launch("base");
    managers.let_lease_end(0);
    CHECK(Scraped(managers, 0)["svc_manager_leader{manager=\"m0\"}"] == 0);
    const std::string deletion = managers.api(0).remove("/1.0/containers/" + instance).operation();
    CHECK(managers.api(0).get(deletion + "/wait?timeout=1").metadata().at("status") != Json("Success"));
    CHECK(managers.api(0).get("/1.0/containers/" + instance).status == 200);
}

TEST_CASE("calls of nodes and the states of nodes are told by node") {
    TestManagers managers(2);
    managers.lead(0);
    eventually("both machines are nodes",
               [&] { return Scraped(managers, 1)["svc_cluster_nodes_total"] == 2; });
    eventually("the other node was asked", [&] {
        const std::string text = Scraped(managers, 0).text;
        return text.find("svc_node_calls_total{node=\"m1\"") != std::string::npos &&
               value(text, "svc_node_calls_total{node=\"m1\",outcome=\"answered\"}") > 0;
    });
    eventually("both are online", [&] {
        const Scraped follower(managers, 1);
        return follower[status_of("m0", "online")] == 1 && follower[status_of("m1", "online")] == 1;
    });
    CHECK(Scraped(managers, 1)[status_of("m1", "offline")] == 0);
    managers.kill(1);
    eventually("the node is offline", [&] { return Scraped(managers, 0)[status_of("m1", "offline")] == 1; });
    CHECK(Scraped(managers, 0)[status_of("m1", "online")] == 0);
}

TEST_CASE("requests that a follower passes on are counted") {
    TestManagers managers(2);
    managers.lead(0);
    const std::string series = "svc_manager_forwarded_requests_total{outcome=\"answered\"}";
    CHECK(Scraped(managers, 1)[series] == 0);
    CHECK(managers.api(1).get("/1.0/operations").status == 200);
    CHECK(Scraped(managers, 1)[series] == 1);
    CHECK(Scraped(managers, 0)[series] == 0);
}

TEST_CASE("a manager tells what the instances of its own node use") {
    TestManagers managers(2);
    managers.lead(0);
    const std::string image = managers.api(0).add_image("base", image_package());
    eventually("both machines are nodes",
               [&] { return Scraped(managers, 0)["svc_cluster_nodes_total"] == 2; });
    for (const std::size_t node : {0U, 1U}) {
        const std::string name = "m" + std::to_string(node);
        const Json launch = managers.api(1).succeed(managers.api(1).post(
            "/1.0/containers",
            Json::object({{"image_id", image}, {"instance_type", "a2.3"}, {"node", name}})));
        const std::string id = resource_id(launch, "containers");
        const std::string series = "svc_instance_processes{id=\"" + id +
                                   "\",application=\"\",type=\"regular\",node=\"" + name + "\"}";
        eventually("its own manager tells of it", [&] {
            return managers.api(node).get("/1.0/metrics").text.find("\n" + series) != std::string::npos;
        });
        CHECK(managers.api(1 - node).get("/1.0/metrics").text.find(id) == std::string::npos);
    }
}

}  // namespace svc::test

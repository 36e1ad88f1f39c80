// Where instances go on three machines, by scheduler.strategy: some hundred launches, counted.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

using Counts = std::map<std::string, int>;

// Nodes sim1, sim2 and sim3 with 16 CPUs each. An instance of the type a2.3 takes two.
struct ThreeNodes {
    TestDaemon daemon{[](server::Options& options) {
        options.simulated.nodes = 3;
        options.simulated.cpus = 8;
        options.cpu_allocation_rate = 2;
    }};
    ApiCaller& api = daemon.api();

    ThreeNodes() { api.add_image("base", image_package()); }

    void patch(const std::string& node, const Json& values) {
        api.succeed(api.patch("/1.0/nodes/" + node, values));
    }
    Json launched(Json request) {
        request.set("image_id", "base");
        request.set("instance_type", "a2.3");
        return api.wait(api.post("/1.0/containers", request));
    }
    void launch(int number, const Json& request = Json::object()) {
        for (int i = 0; i < number; ++i) REQUIRE(launched(request).at("err") == Json(""));
    }
    std::string refusal(const Json& request = Json::object()) {
        return launched(request).at("err").as_string();
    }
    Counts counts() {
        Counts all{{"sim1", 0}, {"sim2", 0}, {"sim3", 0}};
        const Json containers = api.get("/1.0/containers?recursion=1").metadata();
        for (const Json& each : containers.as_array()) ++all.at(each.at("node").as_string());
        return all;
    }
    void remove_one_of(const std::string& node) {
        const Json all = api.get("/1.0/containers?recursion=1").metadata();
        const auto& list = all.as_array();
        const auto one =
            std::ranges::find_if(list, [&](const Json& c) { return c.at("node") == Json(node); });
        api.succeed(api.remove("/1.0/containers/" + one->at("id").as_string()));
    }
};

}  // namespace

TEST_CASE_METHOD(ThreeNodes, "spread gives nodes of one size as many instances, and uses them up") {
    launch(12);
    CHECK(counts() == Counts{{"sim1", 4}, {"sim2", 4}, {"sim3", 4}});
    launch(12);
    CHECK(counts() == Counts{{"sim1", 8}, {"sim2", 8}, {"sim3", 8}});
    CHECK_THAT(refusal(), Catch::StartsWith("No suitable node to satisfy container requirement available") &&
                              Catch::Contains("sim2: cpus short by 2"));
    remove_one_of("sim2");
    launch(1);
    CHECK(counts().at("sim2") == 8);
}

TEST_CASE_METHOD(ThreeNodes, "spread loads nodes of different sizes alike") {
    for (const char* node : {"sim1", "sim2", "sim3"}) patch(node, Json::object({{"memory", "100GB"}}));
    patch("sim1", Json::object({{"cpus", 80}, {"memory", "1000GB"}}));
    patch("sim2", Json::object({{"cpus", 40}, {"memory", "500GB"}}));
    launch(100);
    const Counts placed = counts();
    CHECK(placed.at("sim1") > placed.at("sim2"));
    CHECK(placed.at("sim2") > placed.at("sim3"));
    CHECK(placed.at("sim3") > 0);
}

TEST_CASE_METHOD(ThreeNodes, "binpack fills one node after the other") {
    api.set("scheduler.strategy", "binpack");
    launch(8);
    CHECK(counts() == Counts{{"sim1", 8}, {"sim2", 0}, {"sim3", 0}});
    launch(11);
    CHECK(counts() == Counts{{"sim1", 8}, {"sim2", 8}, {"sim3", 3}});
    remove_one_of("sim1");
    launch(1);
    CHECK(counts() == Counts{{"sim1", 8}, {"sim2", 8}, {"sim3", 3}});
    api.set("scheduler.strategy", "spread");
    launch(1);
    CHECK(counts().at("sim3") == 4);
}

TEST_CASE_METHOD(ThreeNodes, "a rate takes effect for the next launch, also one below what is in use") {
    launch(24);
    patch("sim1", Json::object({{"cpu_allocation_rate", 4}}));
    launch(8);
    CHECK(counts() == Counts{{"sim1", 16}, {"sim2", 8}, {"sim3", 8}});
    patch("sim1", Json::object({{"cpu_allocation_rate", 1}}));
    remove_one_of("sim1");
    CHECK_THAT(refusal(), Catch::Contains("sim1: cpus short by 24"));
}

TEST_CASE_METHOD(ThreeNodes, "a node selector and closed nodes leave the others") {
    patch("sim2", Json::object({{"tags", "fast"}}));
    patch("sim3", Json::object({{"tags", "fast,zone=a"}, {"unscheduable", true}}));
    const std::string app =
        api.add_application(application_package("picky", "image: base\nnode-selector: [fast]\n"));
    for (int i = 0; i < 4; ++i) api.succeed(api.post("/1.0/containers", Json::object({{"app_id", app}})));
    CHECK(counts() == Counts{{"sim1", 0}, {"sim2", 4}, {"sim3", 0}});
    patch("sim3", Json::object({{"unscheduable", false}}));
    for (int i = 0; i < 4; ++i) api.succeed(api.post("/1.0/containers", Json::object({{"app_id", app}})));
    CHECK(counts() == Counts{{"sim1", 0}, {"sim2", 4}, {"sim3", 4}});
}

TEST_CASE_METHOD(ThreeNodes, "GPU slots are counted on each node, and do not keep others away") {
    patch("sim1", Json::object({{"gpu_slots", 4}}));
    patch("sim2", Json::object({{"gpu_slots", 4}}));
    const Json with_slots = Json::object({{"gpu_slots", 2}});
    launch(4, with_slots);
    CHECK(counts() == Counts{{"sim1", 2}, {"sim2", 2}, {"sim3", 0}});
    CHECK_THAT(refusal(with_slots), Catch::Contains("sim1: gpu slots short by 2") &&
                                        Catch::Contains("sim3: gpu slots short by 2"));
    launch(20);
    CHECK(counts() == Counts{{"sim1", 8}, {"sim2", 8}, {"sim3", 8}});
}

}  // namespace svc::test

#include <catch2/catch.hpp>

#include "tests/support/golden.h"
#include "tests/support/image_package.h"
#include "tests/support/normalise.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

TEST_CASE("the_machine_is_one_node_that_says_what_runs_it") {
    TestDaemon daemon;
    const ApiReply shown = daemon.api().get("/1.0/nodes/node0");
    check_golden("api/golden/node.json", normalise(shown.json()));
    CHECK(shown.metadata().at("runtime") == Json("simulated"));
    CHECK(shown.headers.get("ETag").size() == 66);
    CHECK(daemon.api().get("/1.0/nodes").metadata() == Json::array({"/1.0/nodes/node0"}));
    CHECK(daemon.api().get("/1.0/nodes?recursion=1").metadata() == Json::array({shown.metadata()}));
    CHECK(daemon.api().get("/1.0/nodes/node1").error() == "node not found");
}

TEST_CASE("tasks_are_objects_with_and_without_recursion") {
    TestDaemon daemon;
    CHECK(daemon.api().get("/1.0/tasks").metadata() == Json::array());
    daemon.api().add_image("base", image_package());
    const std::string id = daemon.api().launch("base");
    const Json tasks = daemon.api().get("/1.0/tasks").metadata();
    CHECK(tasks.as_array().at(0).at("object_id") == Json(id));
    CHECK(tasks.as_array().at(0).at("status") == Json("running"));
    CHECK(daemon.api().get("/1.0/tasks?recursion=1").metadata() == tasks);
    CHECK(daemon.api().get("/1.0/tasks?recursion=3").status == 400);
}

}  // namespace svc::test

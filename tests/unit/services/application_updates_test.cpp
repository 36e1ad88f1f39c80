// Versions that come by themselves.
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("a new image version makes a new version that carries everything over") {
    ApplicationFixture world;
    world.created(
        "name: candy\nwatchdog: {disabled: true}\nservices: [{name: adb, port: 5559, protocols: [tcp]}]\n");
    world.succeed(world.patch("candy", R"({"resources":{"cpus":3}})"));
    world.update_image("base", "new");
    world.await_active(1);
    const ApplicationVersion version = world.version(1);
    CHECK(version.parent_image_version == 1);
    CHECK(version.published);
    CHECK(version.manifest.watchdog.disabled);
    CHECK(version.manifest.services.size() == 1);
    CHECK(world.app()->effective_resources().cpus == 3);
    CHECK(world.version(0).parent_image_version == 0);
}

TEST_CASE("a new addon version makes a new version of those that use it") {
    ApplicationFixture world;
    world.add_addon("ssh");
    world.created("name: candy\naddons: [ssh]\n");
    world.created("name: plain\n");
    world.update_addon("ssh", "two");
    world.await_active(1);
    CHECK(world.version(1).packages.front().version == 1);
    world.settle();
    CHECK(world.app("plain")->versions.size() == 1);
}

TEST_CASE("global addons reach every application") {
    ApplicationFixture world;
    world.add_addon("ssh");
    world.created();
    world.set("application.addons", "ssh");
    world.await_active(1);
    CHECK(world.version(1).packages.front().name == "ssh");
    CHECK(world.app()->addons.empty());
    world.update_addon("ssh", "two");
    world.await_active(2);
    CHECK(world.version(2).packages.front().version == 1);
}

TEST_CASE("applications that inhibit updates take them in when asked") {
    ApplicationFixture world;
    world.created();
    world.succeed(world.patch("candy", R"({"inhibit_auto_updates":true})"));
    world.created("name: other\n");
    world.update_image("base", "new");
    world.await_active(1, "other");
    CHECK(world.app()->versions.size() == 1);
    REQUIRE(world.bootstrapped(world.patch("candy", "{}")) == "");
    CHECK(world.version(1).parent_image_version == 1);
}

TEST_CASE("nothing updates itself when application.auto_update is off") {
    ApplicationFixture world;
    world.created();
    world.set("application.auto_update", "false");
    world.update_image("base", "new");
    world.end_life();  // whatever was started has ended
    world.begin_life();
    CHECK(world.app()->versions.size() == 1);
}

TEST_CASE("triggers during a bootstrap merge into one update after it") {
    ApplicationFixture world;
    world.add_addon("ssh");
    world.guests_report = false;
    world.create("name: candy\naddons: [ssh]\n");
    const std::string base = world.await_base();
    world.update_image("base", "new");
    world.await([&] { return world.app()->pending_update; });
    world.update_addon("ssh", "two");
    world.update_addon("ssh", "three");
    world.guests_report = true;
    world.report(base, "running");
    world.await_active(1);
    world.settle();
    CHECK(world.app()->versions.size() == 2);
    CHECK(world.version(1).parent_image_version == 1);
    CHECK(world.version(1).packages.front().version == 2);
    world.await([&] { return !world.app()->pending_update; });
}

TEST_CASE("a pending update is taken up after a failure too, and after a restart") {
    ApplicationFixture world;
    world.guests_report = false;
    world.create();
    const std::string base = world.await_base();
    world.update_image("base", "new");
    world.await([&] { return world.app()->pending_update; });
    SECTION("failure") {
        world.guests_report = true;
        world.report(base, "error", "hook failed");
        world.await_active(1);
        CHECK(world.version(0).status == ImageStatus::error);
    }
    SECTION("restart") {
        world.restart();
        const RepeatingAgent agent(world);
        world.await_active(1);
        CHECK(world.version(0).status == ImageStatus::active);
    }
}

TEST_CASE("an update that a crash has swallowed is caught up with") {
    ApplicationFixture world;
    world.created();
    world.life->image_service.on_new_version([](const auto&) {});
    world.update_image("base", "new");
    world.restart();
    world.service().updates().global_addons_changed();
    world.await_active(1);
    CHECK(world.version(1).parent_image_version == 1);
}

TEST_CASE("a version that failed is not tried again by itself") {
    ApplicationFixture world;
    world.created();
    world.guests_report = false;
    world.update_image("base", "new");
    world.report(world.await_base(1), "error", "hook failed");
    world.settle();
    world.service().updates().global_addons_changed();
    world.end_life();
    world.begin_life();
    CHECK(world.app()->versions.size() == 2);
    CHECK(world.app()->status() == ApplicationStatus::error);
    CHECK(world.published() == std::vector<int>{0});
}

TEST_CASE("without its image an application still takes in addons") {
    ApplicationFixture world;
    world.add_image("other", "other");
    world.add_addon("ssh");
    world.created("name: candy\nimage: other\naddons: [ssh]\n");
    world.succeed(world.life->image_service.remove("other", true, "test"));
    world.update_addon("ssh", "two");
    world.await_active(1);
    CHECK(world.version(1).parent_layer == world.version(0).parent_layer);
    CHECK(message_of([&] { world.update("candy", "name: candy\nimage: other\nversion: \"2\"\n"); }) ==
          "image not found");
}

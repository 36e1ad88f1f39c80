// How versions are made, how that fails, and what a crash in the middle of it leads to.
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

void check_whole(ApplicationFixture& world, int number) {
    const ApplicationVersion version = world.version(number);
    CHECK(version.status == ImageStatus::active);
    CHECK(version.error_message == "");
    CHECK(version.published);
    CHECK(version.base_instance.empty());
    CHECK(world.layers.contains(version.layer));
    CHECK(world.containers() == 0);
    CHECK(world.life->instances.size() == 0);
}

}  // namespace

TEST_CASE("a failure inside makes the version and the application fail with its reason") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    const std::string base = world.await_base();
    world.report(base, "error", "hook pre-start of addon ssh failed");
    CHECK(world.bootstrapped(started) == "hook pre-start of addon ssh failed");
    CHECK(world.app()->status() == ApplicationStatus::error);
    CHECK(world.version(0).error_message == "hook pre-start of addon ssh failed");
    CHECK_FALSE(world.version(0).published);
    CHECK(world.life->instances.get(base)->status == InstanceStatus::error);
}

TEST_CASE("a failed capture makes the version fail and leaves nothing that runs") {
    ApplicationFixture world;
    world.layers.before_capture([] { throw Error(ErrorCode::exhausted, "disk is full"); });
    CHECK(world.bootstrapped(world.create()) == "disk is full");
    CHECK(world.version(0).status == ImageStatus::error);
    world.settle();
    world.await([&] { return world.life->instances.size() == 0; });
}

TEST_CASE("what the bootstrap had to say stands on the version") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    world.report(world.await_base(), "running", "", {"no package manager"});
    REQUIRE(world.bootstrapped(started) == "");
    CHECK(world.version(0).notes == std::vector<std::string>{"no package manager"});
}

TEST_CASE("what the agent keeps for itself does not get into the layer") {
    ApplicationFixture world;
    world.created();
    const auto left_out = world.layers.left_out();
    const auto is_left_out = [&](const std::string& name) {
        return std::find(left_out.begin(), left_out.end(), "var/lib/svc-agent/" + name) != left_out.end();
    };
    for (const char* own : {"session.json", "state", "logs"}) CHECK(is_left_out(own));
    for (const char* theirs : {"app", "addons", "vhal"}) CHECK_FALSE(is_left_out(theirs));
}

TEST_CASE("a cancelled bootstrap makes the version fail") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    const std::string base = world.await_base();
    world.engine().cancel(ApplicationFixture::bootstrap_of(started));
    CHECK(world.bootstrapped(started) == "Operation cancelled");
    CHECK(world.version(0).status == ImageStatus::error);
    world.await([&] { return world.life->instances.get(base)->status == InstanceStatus::error; });
}

TEST_CASE("a bootstrap that takes too long fails") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    world.await_base();
    world.clock.advance(std::chrono::minutes(16));
    CHECK(world.bootstrapped(started) != "");
    CHECK(world.app()->status() == ApplicationStatus::error);
}

TEST_CASE("versions are bootstrapped one after another") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started first = world.create();
    const std::string base = world.await_base(0);
    const Started second = world.update("candy", "name: candy\nversion: \"2\"\n");
    world.succeed(second);
    CHECK(world.version(1).base_instance.empty());
    world.report(base, "running");
    world.report(world.await_base(1), "running");
    CHECK(world.bootstrapped(first) == "");
    CHECK(world.bootstrapped(second) == "");
    CHECK(world.published() == std::vector<int>{0, 1});
}

TEST_CASE("at most four bootstraps go on, the others wait without a worker") {
    ApplicationFixture world;
    world.guests_report = false;
    std::vector<Started> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(world.create("name: app" + std::to_string(i) + "\n"));
        world.succeed(all.back());
    }
    world.await([&] { return world.containers() == 4 && world.life->instances.size() == 4; });
    const RepeatingAgent agent(world);
    for (const Started& started : all) CHECK(world.bootstrapped(started) == "");
}

TEST_CASE("an image may go while a version is made from it") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    const std::string base = world.await_base();
    world.succeed(world.life->image_service.remove("base", true, "test"));
    world.report(base, "running");
    REQUIRE(world.bootstrapped(started) == "");
    CHECK(world.layers.contains(world.version(0).parent_layer));
}

TEST_CASE("a bootstrap goes on after a crash at any commit") {
    bool crashed = true;
    std::size_t commits = 1;  // the first is that of the request
    for (; crashed && commits < 100; ++commits) {
        ApplicationFixture world;
        world.store.freeze_after(commits);
        const Started started = world.create();
        const std::string bootstrap = ApplicationFixture::bootstrap_of(started);
        const RepeatingAgent agent(world);
        world.await([&] {
            if (world.store.is_frozen()) return true;
            const auto operation = world.life->operations.find(bootstrap);
            return operation && is_final(operation->status);
        });
        crashed = world.store.is_frozen();
        world.crash();
        world.begin_life();
        INFO("crash after commit " << commits);
        CHECK(world.wait(started)->err == "");
        CHECK(world.engine().wait(bootstrap, std::nullopt)->err == "");
        check_whole(world, 0);
    }
    CHECK(commits > 8);
}

TEST_CASE("a bootstrap that was cancelled before a crash stays cancelled") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    world.succeed(started);
    world.await_base();
    world.restart();
    world.engine().cancel(ApplicationFixture::bootstrap_of(started));
    CHECK(world.bootstrapped(started) == "Operation cancelled");
    CHECK(world.version(0).status == ImageStatus::error);
}

// Publication, limits, deletion.
#include <future>

#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

void add_versions(ApplicationFixture& world, int count) {
    for (int i = 0; i < count; ++i) {
        const int next = world.app()->next_version;
        const std::string manifest = "name: candy\nversion: \"" + std::to_string(next) + "\"\n";
        REQUIRE(world.bootstrapped(world.update("candy", manifest)) == "");
    }
}

std::vector<int> numbers(ApplicationFixture& world) {
    std::vector<int> all;
    const auto application = world.app();
    for (const ApplicationVersion& version : application->versions) all.push_back(version.number);
    return all;
}

}  // namespace

TEST_CASE("versions are published and revoked") {
    ApplicationFixture world;
    world.set("application.auto_publish", "false");
    world.created();
    CHECK(world.published().empty());
    const Started started = world.service().publication().publish("candy", 0, true, "test");
    CHECK(started->description == "Updating application version");
    world.succeed(started);
    CHECK(world.app()->published());
    world.succeed(world.service().publication().publish("candy", 0, true, "test"));
    world.succeed(world.service().publication().publish("candy", 0, false, "test"));
    CHECK_FALSE(world.app()->published());
    CHECK(code_of([&] { world.service().publication().publish("candy", 5, true, "test"); }) ==
          ErrorCode::not_found);
}

TEST_CASE("only active versions can be published") {
    ApplicationFixture world;
    world.guests_report = false;
    world.create();
    const std::string base = world.await_base();
    CHECK(message_of([&] { world.service().publication().publish("candy", 0, true, "test"); }) ==
          "publishing version 0 not allowed: it is initializing");
    world.report(base, "running");
    world.await_active(0);
}

TEST_CASE("beyond the limit the lowest published versions go") {
    ApplicationFixture world;
    world.created();
    add_versions(world, 3);
    world.await([&] { return numbers(world) == std::vector<int>{1, 2, 3}; });
    world.set("application.max_published_versions", "1");
    world.await([&] { return numbers(world) == std::vector<int>{3}; });
    world.settle();
    CHECK(world.layers.list().size() == 2);
}

TEST_CASE("versions in use stay until they are free, unpublished ones do not count") {
    ApplicationFixture world;
    world.set("application.max_published_versions", "1");
    const auto app = world.created();
    Instance user;
    user.id = InstanceId(world.ids.object_id());
    user.app_id = app->id.str();
    user.status = InstanceStatus::stopped;
    world.life->instances.create(user);
    add_versions(world, 1);
    world.settle();
    CHECK(numbers(world) == std::vector<int>{0, 1});
    world.life->instances.remove(user.id.str());
    world.service().publication().enforce_limits();
    world.await([&] { return numbers(world) == std::vector<int>{1}; });
}

TEST_CASE("a deleted version is gone with what only it used") {
    ApplicationFixture world;
    world.created();
    add_versions(world, 1);
    const ApplicationVersion version = world.version(0);
    const Started started = world.service().removal().remove_version("candy", 0, false, "test");
    CHECK(started->description == "Delete application version");
    CHECK(started->resources.at("applications") ==
          std::vector<std::string>{"/1.0/applications/candy", "/1.0/applications/candy/0"});
    CHECK(code_of([&] { world.service().removal().remove_version("candy", 0, false, "test"); }) !=
          std::nullopt);
    world.succeed(started);
    CHECK(numbers(world) == std::vector<int>{1});
    CHECK_FALSE(world.layers.contains(version.layer));
    CHECK(world.layers.contains(version.parent_layer));
    CHECK_FALSE(world.blobs.contains(version.package));
    CHECK(message_of([&] { world.service().removal().remove_version("candy", 1, false, "test"); }) ==
          "deleting the last version of an application not allowed");
    CHECK(message_of([&] { world.service().removal().remove_version("candy", 0, false, "test"); }) ==
          "application version not found");
}

TEST_CASE("numbers are never used again") {
    ApplicationFixture world;
    world.created();
    add_versions(world, 1);
    world.succeed(world.service().removal().remove_version("candy", 1, false, "test"));
    add_versions(world, 1);
    CHECK(numbers(world) == std::vector<int>{0, 2});
}

TEST_CASE("deleting a version that is being made ends its bootstrap") {
    ApplicationFixture world;
    world.created();
    world.guests_report = false;
    const Started update = world.update("candy", "name: candy\nversion: \"2\"\n");
    world.await_base(1);
    world.succeed(world.service().removal().remove_version("candy", 1, false, "test"));
    CHECK(world.bootstrapped(update) == "Operation cancelled");
    CHECK(numbers(world) == std::vector<int>{0});
    CHECK(world.containers() == 0);
    CHECK(world.app()->status() == ApplicationStatus::ready);
}

TEST_CASE("a deleted application leaves nothing") {
    ApplicationFixture world;
    world.created();
    add_versions(world, 1);
    const Started started = world.service().removal().remove("candy", false, "test");
    CHECK(world.bootstrapped(started) == "");
    CHECK_FALSE(world.exists("candy"));
    CHECK(world.layers.list().size() == 1);
    CHECK(world.blobs.list().size() == 1);
    CHECK(code_of([&] { world.service().removal().remove("candy", false, "test"); }) == ErrorCode::not_found);
    world.created();
}

TEST_CASE("an application whose deletion failed can be deleted, also where that could not be stored") {
    ApplicationFixture world;
    world.created();
    add_versions(world, 1);
    ApplicationRemoval& removal = world.service().removal();
    world.failing_store.fail_commit(world.failing_store.commits() + 2, ErrorCode::internal);
    CHECK(world.wait(removal.remove_version("candy", 0, false, "test"))->err != "");
    world.succeed(removal.remove_version("candy", 0, false, "test"));
    world.failing_store.fail_commit(world.failing_store.commits() + 2, ErrorCode::internal);
    CHECK(world.wait(removal.remove("candy", false, "test"))->err != "");
    CHECK_FALSE(world.app()->deleting);
    world.life->applications.update(world.app()->id.str(),
                                    [](Application& marked) { marked.deleting = true; });
    world.succeed(removal.remove("candy", false, "test"));
    CHECK_FALSE(world.exists("candy"));
}

TEST_CASE("deleting an application ends its bootstrap and removes its containers, also failed ones") {
    ApplicationFixture world;
    world.guests_report = false;
    world.create();
    world.report(world.await_base(0), "error", "hook failed");
    world.settle();
    const Started update = world.update("candy", "name: candy\nversion: \"2\"\n");
    world.await_base(1);
    const Started deletion = world.service().removal().remove("candy", false, "test");
    CHECK(message_of([&] { world.service().removal().remove("candy", false, "test"); }) != "");
    CHECK(world.wait(deletion)->err == "");
    CHECK(world.bootstrapped(update) == "Operation cancelled");
    CHECK_FALSE(world.exists("candy"));
    CHECK(world.containers() == 0);
    CHECK(world.life->instances.size() == 0);
    CHECK(world.layers.list().size() == 1);
}

TEST_CASE("what is being deleted takes no changes") {
    ApplicationFixture world;
    world.created();
    world.life->applications.update(world.app()->id.str(), [](Application& app) { app.deleting = true; });
    CHECK(code_of([&] { world.patch("candy", "{}"); }) == ErrorCode::busy);
    CHECK(code_of([&] { world.update("candy", "name: candy\nversion: \"2\"\n"); }) == ErrorCode::busy);
    CHECK(code_of([&] { world.service().publication().publish("candy", 0, false, "test"); }) ==
          ErrorCode::busy);
}

TEST_CASE("a deletion goes on after a crash at any commit") {
    bool crashed = true;
    std::size_t commits = 1;
    for (; crashed && commits < 30; ++commits) {
        ApplicationFixture world;
        world.guests_report = false;
        world.succeed(world.create());  // its end is a commit, too
        world.await_base();
        world.store.freeze_after(commits);
        auto request = std::async(std::launch::async,
                                  [&] { return world.service().removal().remove("candy", false, "test"); });
        world.await([&] { return world.store.is_frozen() || !world.exists("candy"); });
        crashed = world.store.is_frozen();
        Started deletion;
        // A service that stops may refuse the request: then it is made again.
        world.crash([&] {
            try {
                deletion = request.get();
            } catch (const Error& e) {
                CHECK(std::string(e.what()) == "service is stopping");
            }
        });
        world.begin_life();
        INFO("crash after commit " << commits);
        if (!deletion) deletion = world.service().removal().remove("candy", false, "test");
        CHECK(world.wait(deletion)->err == "");
        CHECK_FALSE(world.exists("candy"));
        world.settle();
        CHECK(world.containers() == 0);
        CHECK(world.layers.list().size() == 1);
    }
    CHECK(commits > 2);
}

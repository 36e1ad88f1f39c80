// The gateway's client of a management service against that service itself, with simulated containers.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/streaming/regions/management.h"
#include "tests/support/application_package.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"
#include "tests/support/test_managers.h"

using namespace svc;
using namespace svc::test;
using Names = std::vector<std::string>;

namespace {

// Follows a service's events on a thread; what waits gives up in the end.
class Follower {
  public:
    explicit Follower(Management& management)
        : thread_([this, &management](std::stop_token stop) { run(management, stop); }) {}

    bool await(const std::string& id, std::size_t times = 1) {
        return until([&] { return told_.count(id) >= times; });
    }
    bool await_end() {
        return until([&] { return ended_.has_value(); });
    }
    std::size_t told(const std::string& id) {
        std::lock_guard lock(mutex_);
        return told_.count(id);
    }
    std::optional<ErrorCode> ended() {
        std::lock_guard lock(mutex_);
        return ended_;
    }

  private:
    template <class Test>
    bool until(Test test) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::minutes(1), test);
    }
    void run(Management& management, const std::stop_token& stop) {
        const auto code = code_of([&] {
            management.follow(stop, [this](const std::string& id) {
                std::lock_guard lock(mutex_);
                told_.insert(id);
                changed_.notify_all();
            });
        });
        std::lock_guard lock(mutex_);
        ended_ = code;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::multiset<std::string> told_;
    std::optional<ErrorCode> ended_;
    std::jthread thread_;
};

struct World {
    World() = default;
    explicit World(const std::function<void(server::Options&)>& change) : daemon(change) {}
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    std::unique_ptr<Management> management = make_management_client(region());

    RegionConfig region() const {
        RegionConfig region;
        region.name = "here";
        region.urls = {"unix://" + daemon.local_target().unix_path.string()};
        region.metrics_server = "influxdb:127.0.0.1:8095,raw";
        return region;
    }
    void add_application() {
        api.add_image("base", image_package());
        api.add_application(application_package("candy"));
    }
    StreamLaunched launch_of(const std::string& session) {
        return management->launch({session, "candy", {}, Json::object({{"fps", 60}})});
    }
    std::string launch(const std::string& session) { return launch_of(session).instance; }
    std::string await_status(const std::string& id, const std::string& status) {
        Follower follower(*management);
        for (std::size_t news = 0; follower.await(news == 0 ? "" : id, std::max<std::size_t>(news, 1));
             ++news)
            if (const auto instance = management->instance(id); !instance || instance->status == status)
                break;
        const auto instance = management->instance(id);
        return instance ? instance->status : "deleted";
    }
    bool await_gone(const std::string& id) {
        return test::eventually([&] { return !management->instance(id); });
    }
};

}  // namespace

TEST_CASE("applications are listed while they are published") {
    World world;
    CHECK(world.management->applications().empty());
    world.add_application();
    const auto found = world.management->applications();
    REQUIRE(found.size() == 1);
    CHECK(found.at(0).name == "candy");
    CHECK_FALSE(found.at(0).streams());
    world.api.succeed(world.api.patch("/1.0/applications/candy/0", Json::object({{"published", false}})));
    CHECK(world.management->applications().empty());
}

TEST_CASE("the load tells the CPUs of nodes that take instances") {
    World world;
    CHECK(world.management->load().cpus >= 1);
    world.api.succeed(world.api.patch("/1.0/nodes/node0", Json::object({{"unscheduable", true}})));
    CHECK(world.management->load().cpus == 0);
}

TEST_CASE("a session's instance is launched with its tag, platform and user data") {
    World world;
    world.add_application();
    const std::string id = world.launch("s1");
    const Json record = world.api.get("/1.0/instances/" + id).metadata();
    CHECK(record.at("config").at("platform") == Json("webrtc"));
    CHECK(record.at("config").at("metrics_server") == Json("influxdb:127.0.0.1:8095,raw"));
    CHECK(record.at("tags") == Json::array({"session=s1"}));
    CHECK(world.await_status(id, "running") == "running");
}

TEST_CASE("only instances of sessions are told") {
    World world;
    world.add_application();
    world.api.launch("base");
    const std::string id = world.launch("s1");
    const auto instances = world.management->instances();
    REQUIRE(instances.size() == 1);
    CHECK(instances[0].id == id);
    CHECK(instances[0].session == "s1");
    REQUIRE(world.management->instances_of("s1").size() == 1);
    CHECK(world.management->instances_of("s1")[0].id == id);
    CHECK(world.management->instances_of("s").empty());
    CHECK_FALSE(world.management->instance("c055dl0j1qm027422feg"));
}

TEST_CASE("a launch of what is not there is refused in the service's words") {
    World world;
    CHECK_THROWS_WITH(world.launch("s1"), Catch::Contains("application"));
    CHECK(code_of([&] { world.launch("s1"); }) != ErrorCode::unavailable);
}

TEST_CASE("a launch that finds no room leaves nothing but its operation, which tells why") {
    World world;
    world.add_application();
    world.api.succeed(world.api.patch("/1.0/nodes/node0", Json::object({{"unscheduable", true}})));
    for (int i = 0; i < 50; ++i) {  // its instance may be gone a moment before its end is told
        const StreamLaunched launched = world.launch_of("s1");
        REQUIRE(world.await_gone(launched.instance));
        CHECK(world.management->launch_failure(launched.operation) ==
              "No suitable node to satisfy container requirement available (node0: unschedulable)");
    }
    CHECK(world.management->launch_failure("c5a2f3c4-6d8a-4c1e-9a58-1d2c3b4a5f60").empty());
    CHECK(world.management->launch_failure("nonsense").empty());
}

TEST_CASE("a launch that went well, and one that its deletion overtook, did not fail") {
    World world;
    world.add_application();
    const StreamLaunched well = world.launch_of("s1");
    REQUIRE(world.await_status(well.instance, "running") == "running");
    CHECK(world.management->launch_failure(well.operation).empty());
    for (int i = 0; i < 20; ++i) {
        const StreamLaunched overtaken = world.launch_of("s2");
        world.management->remove(overtaken.instance, true, {});
        CHECK(world.management->launch_failure(overtaken.operation) == "");
        // Or a success, if its guest was faster.
        CHECK(world.api.get("/1.0/operations/" + overtaken.operation).metadata().at("status_code") !=
              Json(400));
    }
}

TEST_CASE("an instance is gone when its removal returns, and a second removal is harmless") {
    World world;
    world.add_application();
    const std::string id = world.launch("s1");
    world.await_status(id, "running");
    Follower follower(*world.management);
    REQUIRE(follower.await(""));
    world.management->remove(id, false, {});
    CHECK_FALSE(world.management->instance(id));
    CHECK(follower.await(id));
    CHECK_NOTHROW(world.management->remove(id, true, {}));
}

TEST_CASE("a removal ends soon after it is asked to stop, and goes on without us") {
    // Adding an application stops a container, too: it takes as long.
    World world([](server::Options& options) { options.simulated.stop_delay = std::chrono::seconds(5); });
    world.add_application();
    const std::string id = world.launch("s1");
    world.await_status(id, "running");
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_of([&] { world.management->remove(id, false, stop.get_token()); }) == ErrorCode::unavailable);
    CHECK(world.await_gone(id));
}

TEST_CASE("an instance is removed while it is being launched") {
    World world;
    world.add_application();
    const std::string id = world.launch("s1");
    world.management->remove(id, true, {});
    CHECK_FALSE(world.management->instance(id));
}

TEST_CASE("who follows learns of launches, and of the service's end") {
    World world;
    world.add_application();
    Follower follower(*world.management);
    REQUIRE(follower.await(""));
    const std::string id = world.launch("s1");
    CHECK(follower.await(id, 2));
    world.daemon.stop();
    CHECK(follower.await_end());
    CHECK(follower.ended() == ErrorCode::unavailable);
}

TEST_CASE("a service that is away is unavailable") {
    World world;
    world.daemon.stop();
    CHECK(code_of([&] { world.management->applications(); }) == ErrorCode::unavailable);
    CHECK_THROWS_WITH(world.management->applications(), Catch::EndsWith(": no connection"));
    CHECK(code_of([&] { world.launch("s1"); }) == ErrorCode::unavailable);
    CHECK(code_of([&] { world.management->remove("c055dl0j1qm027422feg", true, {}); }) ==
          ErrorCode::unavailable);
}

namespace {

// A region of two managers, of which the second one leads: the first one is asked.
struct TwoManagers {
    TestManagers managers{2};
    std::unique_ptr<Management> management;

    TwoManagers() {
        managers.lead(1);
        managers.api(1).add_image("base", image_package());
        managers.api(1).add_application(application_package("candy"));
        RegionConfig region;
        region.name = "here";
        for (const std::size_t manager : {0, 1})
            region.urls.push_back("unix://" + managers.local_target(manager).unix_path.string());
        management = make_management_client(region);
    }
    std::string launch(const std::string& session) {
        return management->launch({session, "candy", {}, Json::object({})}).instance;
    }
};

}  // namespace

TEST_CASE("a region goes on at another manager when the one that is asked is gone") {
    TwoManagers region;
    CHECK(region.management->applications().size() == 1);
    const std::string before = region.launch("s1");
    region.managers.kill(0);
    CHECK(region.management->applications().size() == 1);
    CHECK(region.management->instances_of("s1").size() == 1);
    CHECK_FALSE(region.launch("s2").empty());
    region.management->remove(before, true, {});
    CHECK_FALSE(region.management->instance(before));
}

TEST_CASE("a launch goes to the next manager where the first one cannot be reached") {
    TwoManagers region;
    region.managers.kill(0);
    CHECK_FALSE(region.launch("s1").empty());
    region.managers.kill(1);
    CHECK(code_of([&] { region.launch("s2"); }) == ErrorCode::unavailable);
}

TEST_CASE("a region whose managers have no leader does not answer") {
    TwoManagers region;
    region.managers.kill(1);
    region.managers.nobody_leads();
    CHECK(code_of([&] { region.launch("s1"); }) == ErrorCode::unavailable);
    CHECK(region.management->applications().size() == 1);
}

TEST_CASE("events go on at another manager, and none is missed") {
    TwoManagers region;
    const std::string id = region.launch("s1");
    {
        Follower follower(*region.management);
        REQUIRE(follower.await(""));
        region.launch("s2");
        REQUIRE(follower.await(region.management->instances_of("s2").at(0).id));
        region.managers.kill(0);
        CHECK(follower.await_end());
    }
    region.managers.api(1).succeed(
        region.managers.api(1).call(Method::delete_, "/1.0/instances/" + id, R"({"force":true})"));
    Follower later(*region.management);
    CHECK(later.await(id));
    CHECK(later.told("") == 0);
}

TEST_CASE("over TLS a region is known by its fingerprint and knows the gateway by its certificate") {
    World world;
    const KeyPair identity = make_key_pair(world.daemon.path(), "gateway");
    const Target target = world.daemon.tls_target();
    RegionConfig region;
    region.name = "far";
    region.urls = {"https://" + target.host + ":" + std::to_string(target.port)};
    region.certificate = identity.certificate;
    region.key = identity.key;
    region.server_fingerprint = target.server_fingerprint;
    CHECK(code_of([&] { make_management_client(region)->applications(); }) == ErrorCode::forbidden);
    world.daemon.trust(identity);
    CHECK(make_management_client(region)->applications().empty());
    region.server_fingerprint = std::string(64, '0');
    CHECK(code_of([&] { make_management_client(region)->applications(); }) == ErrorCode::unavailable);
}

TEST_CASE("a region's address that cannot be read is refused with the region's name") {
    CHECK_THROWS_WITH(make_management_client({"far", {"ftp://x"}, "", "", "", ""}),
                      Catch::Contains("region 'far'"));
}

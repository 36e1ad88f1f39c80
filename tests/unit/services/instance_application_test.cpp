// Launches from applications, addons and configuration.
#include <algorithm>
#include <thread>

#include "libsvc/model/instances/agent_paths.h"
#include "libsvc/net/socket/host_address.h"
#include "tests/support/instance_record.h"
#include "tests/unit/services/launch_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

using Texts = std::vector<std::string>;

ServiceEntry service(const std::string& name, std::uint16_t port) {
    ServiceEntry entry;
    entry.name = name;
    entry.port = port;
    entry.protocols = {"tcp"};
    return entry;
}

}  // namespace

TEST_CASE_METHOD(LaunchFixture, "a launch takes the highest published version that is active") {
    auto second = version(1);
    second.published = false;
    auto third = version(2);
    third.status = ImageStatus::error;
    add_application({version(0), second, third});
    const auto instance = records().get(launched(of_application()));
    CHECK(instance->app_version == 0);
    CHECK(instance->app_name == "candy");
    CHECK(test::record_of(*instance).at("app_name").as_string() == "candy");
    CHECK(instance->layers == Texts{images().get("base")->versions[0].layer(), "candy-0"});
    CHECK(runtime.last_spec().layers == instance->layers);
    CHECK(instance->image_id == images().get("base")->id.str());
    CHECK(instance->resources.cpus == 4);
    CHECK(records().get(launched(of_application(1)))->app_version == 1);
}

TEST_CASE_METHOD(LaunchFixture, "what cannot be launched from is told apart") {
    auto draft = version(0);
    draft.published = false;
    auto broken = version(1);
    broken.status = ImageStatus::error;
    auto going = version(2);
    going.status = ImageStatus::deleted;
    add_application({draft, broken, going});
    CHECK(refusal(of_application()) == "published application version not found");
    CHECK(refusal(of_application(7)) == "application version not found");
    CHECK(refusal(of_application(2)) == "application version not found");
    CHECK(refusal(of_application(1)) == "version 1 of application candy is not active");
    change_application([](Application& changed) { changed.deleting = true; });
    CHECK(refusal(of_application(0)) == "application not found");
    InstanceCreate create = of_application();
    create.app_id = "none";
    CHECK(refusal(create) == "application not found");
    CHECK(records().list().empty());
}

TEST_CASE_METHOD(LaunchFixture, "the request overlays what the application has") {
    auto made = version(0);
    made.manifest.services = {service("ssh", 22), service("web", 80)};
    made.manifest.features = {"a", "b"};
    made.manifest.boot_package = "com.example.app";
    made.manifest.boot_activity = ".Main";
    made.manifest.boot = "start it";
    made.manifest.watchdog.allowed_packages = {"*"};
    made.manifest.watchdog.command = "look at it";
    add_application({made});
    change_application([](Application& changed) {
        changed.resources.memory = std::uint64_t{5} << 30;
        changed.resources.cpus = 3;
    });
    configure("container.features", "g,a");
    InstanceCreate create = of_application();
    create.services = {service("web", 8080), service("more", 90)};
    create.config.features = "c, b";
    create.config.boot_activity = ".Other";
    create.config.disable_watchdog = true;
    create.cpus = 1;
    const auto instance = records().get(launched(create));
    CHECK(instance->resources.cpus == 1);
    CHECK(instance->resources.memory == std::uint64_t{5} << 30);
    REQUIRE(instance->services.size() == 3);
    CHECK(instance->services[0].port == 22);
    CHECK(instance->services[1].port == 8080);
    CHECK(instance->services[2].name == "more");
    CHECK(instance->config->features == "c, b");
    const AgentSession session = last_session();
    CHECK(session.features == Texts{"g", "a", "b", "c"});
    CHECK(session.config.boot_package == "com.example.app");
    CHECK(session.config.boot_activity == ".Other");
    CHECK(session.app.boot_activity == ".Other");
    CHECK(session.app.name == "candy");
    CHECK(session.app.watchdog_disabled);
    CHECK(session.app.watchdog_allowed_packages == Texts{"*"});
    CHECK(session.app.boot == "start it");
    CHECK(session.app.watchdog_command == "look at it");
    CHECK(session.app.video_encoder == "gpu-preferred");
    CHECK(runtime.last_spec().files.back().path == "/var/lib/svc-agent/features");
    CHECK(runtime.last_spec().files.back().content == "g\na\nb\nc\n");
    create.services = {service("other", 22)};
    CHECK_THAT(refusal(create), Catch::Contains("overlaps"));
}

TEST_CASE_METHOD(LaunchFixture, "no file that a launch places gets into snapshots and images") {
    auto made = version(0);
    made.manifest.features = {"a"};
    add_application({made});
    launched(of_application());
    REQUIRE_FALSE(runtime.last_spec().files.empty());
    for (const PlacedFile& file : runtime.last_spec().files) {
        INFO(file.path);
        CHECK(std::ranges::any_of(agent_state_paths(), [&](const std::string& path) {
            return file.path == "/" + path || file.path.starts_with("/" + path + "/");
        }));
    }
}

TEST_CASE_METHOD(LaunchFixture, "a disk must hold all layers") {
    auto big = version(0);
    big.layer_size = std::uint64_t{4} << 30;
    add_application({big});
    CHECK_THAT(refusal(of_application()), Catch::StartsWith("argument disk_size is invalid"));
    InstanceCreate create = of_application();
    create.disk_size = std::uint64_t{5} << 30;
    CHECK_NOTHROW(launched(create));
}

TEST_CASE_METHOD(LaunchFixture, "addons of a raw launch are fetched once, by that instance alone") {
    add_addon("ssh", {"pre-start"});
    InstanceCreate create = request();
    create.addons = {"none"};
    CHECK(refusal(create) == "addon not found");
    create.addons = {"ssh", "ssh"};
    const std::string id = booting(create);
    CHECK(runtime.last_spec().boot_by_agent);
    REQUIRE(last_session().packages.size() == 1);
    CHECK(last_session().packages[0].fetch);
    REQUIRE(instances().artifacts(id).size() == 1);
    CHECK(instances().artifacts(id)[0].name == "ssh");
    report(id, "running");
    CHECK(launch_of(id)->err.empty());
    CHECK(instances().artifacts(id).empty());
    life->addons.update("ssh", [](Addon& addon) { addon.versions[0].deleting = true; });
    CHECK(refusal(create) == "addon not found");
}

TEST_CASE_METHOD(LaunchFixture, "packages of an application are there already") {
    add_application(
        {version(0, {package_of("ssh", {"post-start"}), package_of("candy", {"restore"}, true)})});
    const std::string id = launched(of_application());
    CHECK(instances().artifacts(id).empty());
    CHECK(runtime.last_spec().boot_by_agent);
    CHECK(last_session().packages.size() == 2);
    stop(id);
    wait(instances().set_desired_status(id, "running", false, PathWord::containers, "test"));
    CHECK(runtime.last_spec().boot_by_agent);  // restore comes before each start
    CHECK_FALSE((launched(), runtime.last_spec().boot_by_agent));
}

TEST_CASE_METHOD(LaunchFixture, "an Android guest is started by the agent, which is told what it is") {
    ApplicationVersion android = version(0);
    android.android = true;
    add_application({android});
    const std::string id = launched(of_application());
    CHECK(runtime.last_spec().android);
    CHECK(runtime.last_spec().boot_by_agent);
    CHECK(last_session().android);
    CHECK(runtime.last_spec().first_program() == "/init");
    CHECK(records().get(id)->android);
}

TEST_CASE_METHOD(LaunchFixture, "configuration shows in the next launch") {
    launched();
    CHECK(last_session().config.platform == "null");
    CHECK(last_session().service_urls == Texts{"https://10.0.0.1:8443"});
    CHECK(last_session().service_fingerprint == std::string(64, 'a'));
    CHECK(std::ranges::count(runtime.last_spec().allowed_endpoints,
                             AllowedEndpoint{"10.0.0.1", 8443, true, false}) == 1);
    CHECK_FALSE(runtime.last_spec().pin_cpus);
    configure("container.default_platform", "webrtc");
    configure("load_balancer.url", "https://localhost:8444");
    configure("container.network_proxy", "http://10.0.0.1:3128");
    configure("container.apt_mirror", "http://mirror/debian");
    configure("cpu.limit_mode", "pinning");
    configure("gpu.type", "amd");
    const std::string id = launched();
    const AgentSession session = last_session();
    CHECK(session.config.platform == "webrtc");
    CHECK(records().get(id)->config->platform == "webrtc");
    CHECK(session.service_urls == Texts{"https://localhost:8444", "https://10.0.0.1:8443"});
    CHECK(session.service_addresses.at("localhost") == host_address("localhost"));
    CHECK(session.network_proxy == "http://10.0.0.1:3128");
    CHECK(std::ranges::count(runtime.last_spec().allowed_endpoints,
                             AllowedEndpoint{"10.0.0.1", 3128, true, false}) == 1);
    CHECK(std::ranges::count(runtime.last_spec().allowed_endpoints,
                             AllowedEndpoint{host_address("localhost"), 8444, true, false}) == 1);
    CHECK(session.apt_mirror == "http://mirror/debian");
    CHECK(session.gpu_type == "amd");
    CHECK_FALSE(session.security_updates);
    CHECK(runtime.last_spec().pin_cpus);
    InstanceCreate create = request();
    create.config.platform = "swrast";
    launched(create);
    CHECK(last_session().config.platform == "swrast");
}

TEST_CASE_METHOD(LaunchFixture, "a load balancer that has no address is left out") {
    // The empty label is refused before a name server is asked.
    configure("load_balancer.url", GENERATE("https://lb..invalid", "https://127.0.0.1/path"));
    launched();
    CHECK(last_session().service_urls == Texts{"https://10.0.0.1:8443"});
    CHECK(last_session().service_addresses.empty());
}

TEST_CASE_METHOD(LaunchFixture, "an application's node selector and encoder decide where it may run") {
    auto made = version(0);
    made.manifest.video_encoder = VideoEncoder::gpu;
    add_application({made});
    CHECK_THAT(wait(launch(of_application()))->err, Catch::Contains("gpu encoder slots short by 1"));
    configure("gpu.type", "intel");
    const std::string id = launched(of_application());
    CHECK(records().get(id)->gpu_encoder_slots == 1);
    change_application([](Application& changed) { changed.resources.gpu_type = "amd"; });
    CHECK_THAT(wait(launch(of_application()))->err, Catch::Contains("no gpu of type amd"));
    change_application([](Application& changed) {
        changed.resources.gpu_type = "intel";
        changed.node_selector = {"fast"};
    });
    CHECK_THAT(wait(launch(of_application()))->err, Catch::Contains("no tag 'fast'"));
    NodePatch patch;
    patch.tags = Texts{"fast", "big"};
    wait(nodes().patch("node0", patch, "test"));
    CHECK_NOTHROW(launched(of_application()));
}

TEST_CASE_METHOD(LaunchFixture, "two launches of the last GPU slot: one runs") {
    NodePatch patch;
    patch.gpu_slots = 1;
    wait(nodes().patch("node0", patch, "test"));
    InstanceCreate create = request();
    create.instance_type = "g2.3";
    const auto first = launch(create);
    const auto second = launch(create);
    const bool first_runs = wait(first)->err.empty();
    CHECK(first_runs != wait(second)->err.empty());
    const std::string id = id_of(first_runs ? first : second);
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK_NOTHROW(launched(create));
}

TEST_CASE_METHOD(LaunchFixture, "a launch that meets the deletion of its version runs or finds none") {
    for (int round = 0; round < 20; ++round) {
        const std::string layer = version(round).layer;
        const std::string application = add_application({version(round)});
        std::jthread deletion([&] {
            life->applications.remove(application);
            life->content.drop({}, {layer});
        });
        Started started;
        std::string refused;
        try {
            started = launch(of_application());
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::not_found);
        }
        deletion.join();
        CHECK(simulated.layers().contains(layer) == (started != nullptr));
        if (!started) continue;
        CHECK(wait(started)->err.empty());
        wait(instances().remove(id_of(started), true, PathWord::containers, "test"));
        CHECK_FALSE(simulated.layers().contains(layer));
    }
}

TEST_CASE_METHOD(LaunchFixture, "who waits for a version to be free is told") {
    const std::string application = add_application({version(0)});
    Watched<Texts> released;
    instances().on_application_released([&](const std::string& id, int number) {
        released.change([&](auto& all) { all.push_back(id + ":" + std::to_string(number)); });
    });
    const std::string id = launched(of_application());
    CHECK(released.get().empty());
    stop(id);
    released.await([](const auto& all) { return all.size() == 1; });
    wait(instances().remove(id, false, PathWord::containers, "test"));
    CHECK(released.await([](const auto& all) { return all.size() == 2; })[1] == application + ":0");
    launched();
    CHECK(released.get().size() == 2);
}

TEST_CASE_METHOD(LaunchFixture, "a node that is removed by force takes its instances with it") {
    launch_on_old_node();
    const std::string id = launched();
    const std::string other = booting();
    NodeRemoval removal;
    CHECK(message_of([&] { nodes().remove("old", removal, "test"); }) ==
          "node old is in use by instances " + id + ", " + other);
    removal.force = true;
    CHECK(wait(nodes().remove("old", removal, "test"))->err.empty());
    CHECK_FALSE(exists(id));
    CHECK_FALSE(exists(other));
    CHECK(simulated.list().empty());
    NodePatch open;
    open.unschedulable = false;
    wait(nodes().patch("node0", open, "test"));
    guests_report = true;
    CHECK_NOTHROW(launched());
}

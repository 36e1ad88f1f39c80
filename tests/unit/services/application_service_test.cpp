// Creation, updates by package and by PATCH.
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string refusal(ApplicationFixture& world, const std::string& manifest,
                    const std::map<std::string, std::string>& files = {}) {
    return message_of([&] { world.create(manifest, files); });
}

}  // namespace

TEST_CASE("a created application is ready, active and published once bootstrapped") {
    ApplicationFixture world;
    const auto app = world.created("name: candy\nversion: \"1.2\"\ntags: [game]\n");
    CHECK(app->status() == ApplicationStatus::ready);
    CHECK(app->tags == std::vector<std::string>{"game"});
    CHECK(app->instance_type == "a2.3");
    CHECK(app->abi == "x86_64");
    CHECK_FALSE(app->immutable);
    const ApplicationVersion version = world.version(0);
    CHECK(version.status == ImageStatus::active);
    CHECK(version.published);
    CHECK(version.manifest.version == "1.2");
    CHECK(version.layers().size() == 2);
    CHECK(world.layers.contains(version.layer));
    CHECK(version.layer_size == world.layers.size(version.layer));
    CHECK(version.base_instance.empty());
    CHECK(world.containers() == 0);
}

TEST_CASE("creation ends before the bootstrap, which is an operation of its own") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    CHECK(started->description == "Creating application");
    const std::string id = started->arguments.at("application").as_string();
    CHECK(started->resources.at("applications") == std::vector<std::string>{"/1.0/applications/" + id});
    world.succeed(started);
    CHECK(world.app()->status() == ApplicationStatus::initializing);
    const auto bootstrap = world.engine().get(ApplicationFixture::bootstrap_of(started));
    CHECK(bootstrap->description == "Bootstrapping application");
    CHECK(bootstrap->may_cancel);
    world.report(world.await_base(), "running");
    world.await_active(0);
}

TEST_CASE("a base container gets the packages to fetch and what the manifest asks for") {
    ApplicationFixture world;
    world.add_addon("ssh");
    world.add_addon("tools");
    world.set("application.addons", "tools");
    world.settle();
    world.guests_report = false;
    world.create(
        "name: candy\naddons: [ssh]\ninstance-type: a4.3\nresources: {memory: 4GB}\n"
        "hooks: {timeout: 10m}\n",
        {{"hooks/post-start", "#!/bin/sh\n"}});
    const auto base = world.life->instances.get(world.await_base());
    CHECK(base->type == InstanceType::base);
    CHECK(base->resources.cpus == 4);
    CHECK(base->resources.memory == std::uint64_t{4} << 30);
    REQUIRE(base->packages.size() == 3);
    CHECK(base->packages[0].name == "tools");
    CHECK(base->packages[1].name == "ssh");
    CHECK(base->packages[2].is_application);
    CHECK(base->packages[2].hooks == std::vector<std::string>{"post-start"});
    CHECK(base->packages[2].hook_timeout_seconds == 600);
    for (const PackageRef& package : base->packages) CHECK(package.fetch);
    CHECK(base->app->name == "candy");
}

TEST_CASE("packages that do not hold what they should are refused") {
    ApplicationFixture world;
    CHECK(refusal(world, "", {{"app.apk", "x"}}) == "manifest.yaml not found");
    CHECK(refusal(world, "name: [candy]\n") != "");
    CHECK(refusal(world, "name: candy\nimage: other\n") == "image not found");
    CHECK(refusal(world, "name: candy\naddons: [ssh]\n") == "addon not found");
    CHECK(refusal(world, "name: candy\nabi: arm64-v8a\n").starts_with("abi arm64-v8a not supported"));
    CHECK(refusal(world,
                  "name: candy\nboot-package: com.foo.candy\n"
                  "extra-data: {a.obb: {target: /sdcard/Android/obb/com.foo.candy}}\n") ==
          "extra-data/a.obb not found");
    CHECK(message_of([&] { world.service().changes().create(world.upload("no archive"), "", "test"); }) !=
          "");
    CHECK(message_of([&] {
              world.service().changes().create(
                  world.upload(application_package("name: candy\n", {{"hooks/pre-start", "x"}}, 0644)), "",
                  "test");
          }) == "hooks/pre-start not executable");
    CHECK(message_of([&] {
              world.service().changes().create(world.upload(application_package("name: candy\n")),
                                               std::string(64, '0'), "test");
          }).starts_with("fingerprint don't match"));
    CHECK_FALSE(world.exists("candy"));
    CHECK(world.blobs.list().size() == 1);  // the image's
}

TEST_CASE("an addon can make an application's ABI run") {
    ApplicationFixture world;
    world.succeed(world.life->addon_service.create(
        {"arm"},
        world.upload(application_package("name: arm\nprovides: {abi-support: [arm64-v8a]}\n",
                                         {{"hooks/install", "#!/bin/sh\n"}})),
        "", "test"));
    CHECK(world.created("name: candy\nabi: arm64-v8a\naddons: [arm]\n")->abi == "arm64-v8a");
}

TEST_CASE("an application that names no ABI has the configured one, if it can run") {
    ApplicationFixture world;
    world.set("application.default_abi", "x86");
    CHECK(world.created("name: candy\n")->abi == "x86");
    CHECK(world.created("name: other\nabi: x86_64\n")->abi == "x86_64");
    world.set("application.default_abi", "arm64-v8a");
    CHECK(refusal(world, "name: third\n").starts_with("abi arm64-v8a not supported"));
    world.set("application.default_abi", "");
    CHECK(world.created("name: third\n")->abi == "x86_64");
}

TEST_CASE("a name is free once") {
    ApplicationFixture world;
    world.created();
    CHECK(code_of([&] { world.create("name: candy\ntags: [x]\n"); }) == ErrorCode::conflict);
    CHECK(world.service().list().size() == 1);
    CHECK(world.blobs.list().size() == 2);
}

TEST_CASE("a new package makes a new version") {
    ApplicationFixture world;
    world.created();
    const Started started = world.update("candy", "name: candy\nversion: \"2\"\n");
    CHECK(started->resources.at("applications") == std::vector<std::string>{"/1.0/applications/candy"});
    REQUIRE(world.bootstrapped(started) == "");
    CHECK(world.version(1).manifest.version == "2");
    CHECK(world.published() == std::vector<int>{0, 1});
}

TEST_CASE("a package makes a version also where it is the same") {
    ApplicationFixture world;
    world.created();
    REQUIRE(world.bootstrapped(world.update("candy", "name: candy\n")) == "");
    CHECK(world.version(1).package == world.version(0).package);
    CHECK(world.published() == std::vector<int>{0, 1});
    world.succeed(world.service().removal().remove_version("candy", 0, false, "test"));
    CHECK(world.blobs.list().size() == 2);  // the image's, and what version 1 is made from
}

TEST_CASE("packages of another name or for the wrong application are refused") {
    ApplicationFixture world;
    world.created();
    CHECK(message_of([&] { world.update("candy", "name: sweet\n"); }) ==
          "argument name is invalid: an application cannot be renamed");
    CHECK(code_of([&] { world.update("sweet", "name: sweet\n"); }) == ErrorCode::not_found);
    CHECK(world.app()->versions.size() == 1);
    CHECK(world.blobs.list().size() == 2);
}

TEST_CASE("a package that failed may be tried again") {
    ApplicationFixture world;
    world.guests_report = false;
    const Started started = world.create();
    world.report(world.await_base(), "error", "hook failed");
    CHECK(world.bootstrapped(started) == "hook failed");
    world.guests_report = true;
    CHECK(world.bootstrapped(world.update("candy", "name: candy\n")) == "");
    CHECK(world.app()->status() == ApplicationStatus::ready);
}

TEST_CASE("what was patched stays unless the new manifest says something new") {
    ApplicationFixture world;
    world.created("name: candy\ntags: [a]\ninstance-type: a4.3\n");
    world.succeed(world.patch("candy", R"({"tags":["mine"],"instance-type":"a6.3"})"));
    REQUIRE(world.bootstrapped(world.update("candy", "name: candy\ntags: [a]\ninstance-type: a8.3\n")) == "");
    CHECK(world.app()->tags == std::vector<std::string>{"mine"});
    CHECK(world.app()->instance_type == "a8.3");
}

TEST_CASE("fields of the application change without a version") {
    ApplicationFixture world;
    world.created();
    const Started started = world.patch(
        "candy",
        R"({"tags":["a","b"],"instance-type":"a4.3","resources":{"cpus":3},"inhibit_auto_updates":true})");
    CHECK(started->arguments.at("version").as_int() == -1);
    world.succeed(started);
    const auto app = world.app();
    CHECK(app->tags.size() == 2);
    CHECK(app->instance_type == "a4.3");
    CHECK(app->effective_resources().cpus == 3);
    CHECK(app->inhibit_auto_updates);
    CHECK(app->versions.size() == 1);
}

TEST_CASE("resources of a patch change one by one, none unsets all") {
    ApplicationFixture world;
    world.created("name: candy\ninstance-type: a4.3\nresources: {memory: 5GB}\n");
    world.succeed(world.patch("candy", R"({"resources":{"cpus":3}})"));
    CHECK(world.app()->effective_resources().cpus == 3);
    CHECK(world.app()->effective_resources().memory == std::uint64_t{5} << 30);
    world.succeed(world.patch("candy", R"({"resources":{}})"));
    CHECK(world.app()->effective_resources().cpus == 4);
    CHECK(world.app()->effective_resources().memory == std::uint64_t{3} << 30);
}

TEST_CASE("fields of a version make exactly one version, of the same package") {
    ApplicationFixture world;
    world.created("name: candy\n", {{"hooks/pre-start", "#!/bin/sh\n"}});
    REQUIRE(world.bootstrapped(world.patch(
                "candy", R"({"boot_activity":".Main","manifest_version":"3","tags":["x"]})")) == "");
    REQUIRE(world.app()->versions.size() == 2);
    const ApplicationVersion version = world.version(1);
    CHECK(version.manifest.boot_activity == ".Main");
    CHECK(version.package == world.version(0).package);
    CHECK(version.packages.back().version == 1);
    CHECK(version.packages.back().hooks == std::vector<std::string>{"pre-start"});
    CHECK(world.app()->tags == std::vector<std::string>{"x"});
}

TEST_CASE("a patch that changes nothing succeeds without a version") {
    ApplicationFixture world;
    world.created("name: candy\nversion: \"3\"\n");
    CHECK(world.bootstrapped(world.patch("candy", R"({"manifest_version":"3"})")) == "");
    CHECK(world.bootstrapped(world.patch("candy", "{}")) == "");
    CHECK(world.app()->versions.size() == 1);
}

TEST_CASE("patches of what does not exist are refused and change nothing") {
    ApplicationFixture world;
    const auto before = world.created();
    CHECK(message_of([&] { world.patch("candy", R"({"tags":["x"],"image":"other"})"); }) ==
          "image not found");
    CHECK(message_of([&] { world.patch("candy", R"({"tags":["x"],"addons":["other"]})"); }) ==
          "addon not found");
    CHECK(code_of([&] { world.patch("candy", R"({"instance-type":"z1.1"})"); }) ==
          ErrorCode::invalid_argument);
    CHECK(application_to_store(*world.app()) == application_to_store(*before));
}

TEST_CASE("another image makes one version together with changed fields") {
    ApplicationFixture world;
    const auto other = world.add_image("other", "other");
    world.created();
    REQUIRE(world.bootstrapped(world.patch("candy", R"({"image":"other","boot_activity":".Main"})")) == "");
    world.settle();
    CHECK(world.app()->versions.size() == 2);
    CHECK(world.version(1).parent_image_id == other->id.str());
    CHECK(world.app()->parent_image_id == other->id.str());
}

TEST_CASE("another image is taken in later where updates are inhibited") {
    ApplicationFixture world;
    const auto other = world.add_image("other", "other");
    world.created();
    world.succeed(world.patch("candy", R"({"inhibit_auto_updates":true,"image":"other"})"));
    CHECK(world.app()->versions.size() == 1);
    REQUIRE(world.bootstrapped(world.patch("candy", "{}")) == "");
    CHECK(world.version(1).parent_image_id == other->id.str());
}

TEST_CASE("the ETag follows what can be changed") {
    ApplicationFixture world;
    const std::string before = world.service().records().etag(*world.created());
    CHECK(world.service().records().etag(*world.app()) == before);
    world.succeed(world.patch("candy", R"({"tags":["x"]})"));
    CHECK(world.service().records().etag(*world.app()) != before);
}

TEST_CASE("the manifest of a version names its image") {
    ApplicationFixture world;
    world.created("name: candy\nvideo-encoder: software\n");
    REQUIRE(world.bootstrapped(world.patch("candy", R"({"video_encoder":"gpu-preferred"})")) == "");
    const std::string first = world.service().records().manifest("candy", 0);
    CHECK(first.find("image: base\n") != std::string::npos);
    CHECK(first.find("video-encoder: software\n") != std::string::npos);
    CHECK(world.service().records().manifest("candy", std::nullopt).find("video-encoder: gpu-preferred\n") !=
          std::string::npos);
    CHECK(message_of([&] { world.service().records().manifest("candy", 7); }) ==
          "application version not found");
}

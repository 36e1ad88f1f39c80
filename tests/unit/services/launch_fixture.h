#pragma once
// Applications and addons as records alone, to launch instances from.
#include <future>

#include "tests/support/eventually.h"
#include "tests/unit/services/service_fixture.h"

namespace svc::test {

struct LaunchFixture : ServiceFixture {
    LaunchFixture() { add_image("base"); }

    PackageRef package_of(const std::string& name, std::vector<std::string> hooks, bool application = false) {
        PackageRef package;
        package.is_application = application;
        package.name = name;
        package.fingerprint = std::string(64, 'b');
        package.hooks = std::move(hooks);
        package.hook_timeout_seconds = 60;
        return package;
    }
    // An active, published version over the image, with a layer of its own.
    ApplicationVersion version(int number, std::vector<PackageRef> packages = {}) {
        const auto image = images().get("base");
        ApplicationVersion made;
        made.number = number;
        made.status = ImageStatus::active;
        made.published = true;
        made.parent_image_id = image->id.str();
        made.parent_image_version = 0;
        made.manifest.name = "candy";
        made.packages = std::move(packages);
        made.parent_layer = image->versions[0].layer();
        made.layer = "candy-" + std::to_string(number);
        made.layer_size = 1000;
        made.architecture = "x86_64";
        made.ready = ReadinessCheck{"/run/ready", "", 0};
        if (!simulated.layers().contains(made.layer))
            simulated.layers().add(made.layer, blobs.path(image->versions[0].fingerprint), {});
        return made;
    }
    std::string add_application(std::vector<ApplicationVersion> versions) {
        Application application;
        application.id = ApplicationId(ids.object_id());
        application.name = "candy";
        application.instance_type = "a4.3";
        application.versions = std::move(versions);
        application.next_version = 10;
        return life->applications.create(std::move(application))->id.str();
    }
    void change_application(const std::function<void(Application&)>& change) {
        life->applications.update(life->applications.get("candy")->id.str(), change);
    }
    void add_addon(const std::string& name, std::vector<std::string> hooks) {
        AddonVersion version;
        version.fingerprint = std::string(64, 'a');
        version.hooks = std::move(hooks);
        version.hook_timeout_seconds = 60;
        Addon addon;
        addon.name = name;
        addon.versions = {version};
        addon.next_version = 1;
        life->addons.create(std::move(addon));
    }
    static InstanceCreate of_application(std::optional<int> version = {}) {
        InstanceCreate create;
        create.app_id = "candy";
        create.app_version = version;
        return create;
    }
    AgentSession last_session() {
        return AgentSession::from_json(Json::parse(runtime.last_spec().files.at(0).content));
    }
    void stop(const std::string& id) {
        wait(instances().set_desired_status(id, "stopped", false, PathWord::containers, "test"));
    }
    std::shared_ptr<const Operation> launch_of(const std::string& id) {
        return engine().wait(records().get(id)->launch_operation, std::nullopt);
    }
    // A guest that boots until the test says otherwise.
    std::string booting(const InstanceCreate& create = request()) {
        guests_report = false;
        const std::string id = id_of(launch(create));
        await_told(id, "started");
        return id;
    }
    // Returns when the engine takes no more; it has stopped when what it waits for is over.
    std::future<void> stop_engine() {
        auto stopped = std::async(std::launch::async, [this] { engine().stop(std::chrono::hours(1)); });
        eventually("the engine refuses work", [this] {
            return code_of([this] {
                       life->config.patch({"gpu.type", ""}, "test");
                   }) == ErrorCode::unavailable;
        });
        return stopped;
    }
    bool exists(const std::string& id) { return life->instances.find(id) != nullptr; }
    std::string refusal(const InstanceCreate& create) {
        return message_of([&] { launch(create); });
    }
};

}  // namespace svc::test

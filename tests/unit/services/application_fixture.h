#pragma once
// Applications with all that they are made from. Their guests succeed at once unless the test says otherwise.
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/formats/pack.h"
#include "tests/support/service_world.h"

namespace svc::test {

// Files of a package by path; hooks are executable. The same content gives the same bytes.
inline std::string application_package(const std::string& manifest,
                                       const std::map<std::string, std::string>& files = {},
                                       unsigned hook_mode = 0755) {
    namespace fs = std::filesystem;
    const TemporaryDirectory directory(fs::temp_directory_path(), "svc-application-");
    const fs::path root = directory.path() / "package";
    fs::create_directories(root);
    auto all = files;
    if (!manifest.empty()) all["manifest.yaml"] = manifest;
    for (const auto& [path, content] : all) {
        fs::create_directories((root / path).parent_path());
        write_file_atomically(root / path, content, path.starts_with("hooks/") ? hook_mode : 0644);
    }
    for (const auto& entry : fs::recursive_directory_iterator(root))
        fs::last_write_time(entry.path(), fs::file_time_type());
    fs::last_write_time(root, fs::file_time_type());
    const fs::path package = directory.path() / "package.tar.bz2";
    pack_directory(root, package);
    return read_file(package, std::size_t{1} << 24U);
}

struct ApplicationFixture : ServiceWorld {
    FreezingStore& store = freezing_store;

    ApplicationFixture() : ServiceWorld({.cpus = 16, .disk_bytes = std::uint64_t{200} << 30}) {
        add_image("base");
    }

    // Nothing is on disk but what was committed before the store froze.
    // `join` waits for requests that other threads make.
    void crash(const std::function<void()>& join = {}) {
        service_clock.on_next([this] { store.let_go(); });
        life->engine.stop(std::chrono::hours(1));
        if (join) join();
        set_life(nullptr);
        store.thaw();
    }
    void restart() {
        end_life();
        begin_life();
    }
    void begin_life() {
        ServiceWorld::begin_life();
        life->instance_service.reconciler().reconcile();
    }

    ApplicationService& service() { return life->application_service; }

    void succeed(const Started& started) { REQUIRE(wait(started)->err == ""); }
    std::shared_ptr<const Image> add_image(const std::string& name, const std::string& text = "hello") {
        PackageContent content;
        content.text = text;
        succeed(life->image_service.create({name, std::nullopt}, upload(image_package(content)), "", "test"));
        return life->image_service.get(name);
    }
    void update_image(const std::string& name, const std::string& text) {
        PackageContent content;
        content.text = text;
        succeed(life->image_service.update(name, {}, upload(image_package(content)), "", "test"));
    }
    static std::string addon_package(const std::string& name, const std::string& text = "one") {
        return application_package("name: " + name + "\n",
                                   {{"hooks/pre-start", "#!/bin/sh\n# " + text + "\n"}});
    }
    void add_addon(const std::string& name) {
        succeed(life->addon_service.create({name}, upload(addon_package(name)), "", "test"));
    }
    void update_addon(const std::string& name, const std::string& text) {
        succeed(life->addon_service.update(name, upload(addon_package(name, text)), "", "test"));
    }
    void set(const std::string& key, const std::string& value) {
        succeed(life->config.patch({key, value}, "test"));
    }
    Started create(const std::string& manifest = "name: candy\n",
                   const std::map<std::string, std::string>& files = {}) {
        return service().changes().create(upload(application_package(manifest, files)), "", "test");
    }
    // Until the bootstrap has ended too.
    std::string bootstrapped(const Started& started) {
        succeed(started);
        if (started->arguments.at("version").as_int() >= 0)
            return engine().wait(bootstrap_of(started), std::nullopt)->err;
        return {};
    }
    std::shared_ptr<const Application> created(const std::string& manifest = "name: candy\n",
                                               const std::map<std::string, std::string>& files = {}) {
        const Started started = create(manifest, files);
        REQUIRE(bootstrapped(started) == "");
        return service().get(started->arguments.at("application").as_string());
    }
    Started update(const std::string& name, const std::string& manifest,
                   const std::map<std::string, std::string>& files = {}) {
        return service().changes().update(name, upload(application_package(manifest, files)), "", "test");
    }
    Started patch(const std::string& name, const std::string& json) {
        return service().changes().patch(name, ApplicationPatch::from_json(Json::parse(json)), "test");
    }
    static std::string bootstrap_of(const Started& started) {
        return started->arguments.at("bootstrap").as_string();
    }
    std::shared_ptr<const Application> app(const std::string& name = "candy") { return service().get(name); }
    ApplicationVersion version(int number, const std::string& name = "candy") {
        const auto application = app(name);
        REQUIRE(application->version(number) != nullptr);
        return *application->version(number);
    }
    std::vector<int> published(const std::string& name = "candy") {
        std::vector<int> numbers;
        const auto application = app(name);
        for (const ApplicationVersion& version : application->versions)
            if (version.published) numbers.push_back(version.number);
        return numbers;
    }
    // Blocks until records have changed so that it holds; the test fails in the end.
    void await(const std::function<bool()>& holds) {
        std::unique_lock lock(mutex);
        REQUIRE(changed.wait_for(lock, std::chrono::minutes(2), holds));
    }
    void await_active(int number, const std::string& name = "candy") {
        await([&] {
            const auto application = life->applications.find(name);
            const ApplicationVersion* const version = application ? application->version(number) : nullptr;
            return version != nullptr && version->status == ImageStatus::active;
        });
    }
    // The base container of a version, once its guest is up and has not reported.
    std::string await_base(int number = 0, const std::string& name = "candy") {
        std::string id;
        await([&] {
            const auto application = life->applications.find(name);
            const ApplicationVersion* const version = application ? application->version(number) : nullptr;
            if (version == nullptr || version->base_instance.empty()) return false;
            const auto base = life->instances.find(version->base_instance);
            id = version->base_instance;
            return base && base->status == InstanceStatus::started;
        });
        return id;
    }
    // No operation is left. The service may still have to look at what they changed: that is awaited.
    void settle() {
        for (const auto& operation : engine().list()) engine().wait(operation->id.str(), std::nullopt);
    }
    bool exists(const std::string& name) { return life->applications.find(name) != nullptr; }
    std::size_t containers() { return simulated.list().size(); }
};

// What runs in the containers: reports until it is heard.
class RepeatingAgent {
  public:
    explicit RepeatingAgent(ApplicationFixture& world) : world_(world) {}

  private:
    void run(const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any pause;
        while (!stop.stop_requested()) {
            for (const ContainerInfo& container : world_.simulated.list())
                if (container.state == ContainerState::running) world_.try_report(container.id);
            std::unique_lock lock(mutex);
            pause.wait_for(lock, stop, std::chrono::milliseconds(2), [] { return false; });
        }
    }
    ApplicationFixture& world_;
    std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

}  // namespace svc::test

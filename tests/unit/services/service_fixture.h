#pragma once
// All services over a store in memory and a simulated runtime that obeys the test.
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/exec/exec_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/failing_store.h"
#include "tests/support/fake_runtime.h"
#include "tests/support/image_package.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"

namespace svc::test {

// Thread-safe. A value that a test waits for.
template <class T>
class Watched {
  public:
    template <class F>
    void change(F&& f) {
        std::lock_guard lock(mutex_);
        f(value_);
        changed_.notify_all();  // while it is locked: who awaits it may end it at once
    }
    template <class Predicate>
    T await(Predicate&& holds) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return holds(value_); });
        return value_;
    }
    T get() {
        std::lock_guard lock(mutex_);
        return value_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    T value_{};
};

struct ServiceFixture;

// One life of the daemon: what a restart makes anew.
struct Life {
    explicit Life(ServiceFixture& world);
    Images images;
    Applications applications;
    Addons addons;
    ConfigRecords config_records;
    Nodes nodes;
    Instances instances;
    Engine engine;
    Content content;
    ConfigService config;
    ImageService image_service;
    AddonService addon_service;
    NodeService node_service;
    InstanceService instance_service;
    ExecService exec_service;
};

struct ServiceFixture {
    ManualClock clock;
    SequenceIds ids;
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-services-"};
    SqliteStore sqlite{":memory:"};
    FailingStore store{sqlite};
    EventBus bus{clock};
    Watched<std::vector<std::string>> actions;  // of the lifecycle events, with their source
    std::unique_ptr<EventBus::Handle> subscription =
        bus.subscribe({EventType::lifecycle}, [this](const Event& event) {
            const Json metadata = Json::parse(*event.text).at("metadata");
            actions.change([&](auto& all) {
                all.push_back(metadata.at("action").as_string() + " " + metadata.at("source").as_string());
            });
            return true;
        });
    DirBlobStore blobs{{directory.path() / "blobs"}};
    AgentTokens tokens{directory.path() / "secret", clock};
    std::mutex life_mutex;  // guests report from a thread of the simulation
    std::atomic<bool> guests_report{true};
    Guarded<std::function<int(const std::string& id)>> after_guest;  // the exit status of what comes after it
    SimulatedRuntime simulated{clock, simulation()};
    FakeRuntime runtime{simulated};
    FakeLayers layers{simulated.layers()};
    std::unique_ptr<Life> life = std::make_unique<Life>(*this);

    ~ServiceFixture() { end_life(); }

    SimulatedOptions simulation() {
        SimulatedOptions options;
        options.cpus = 4;  // 16 with the default rate: eight instances
        options.disk_bytes = std::uint64_t{30} << 30;
        options.run_once = [this](std::string_view id, const std::vector<std::string>&) {
            const auto after = after_guest.with([](const auto& current) { return current; });
            return after ? after(std::string(id)) : 0;
        };
        options.report_running = [this](std::string_view id) {
            std::lock_guard lock(life_mutex);
            if (guests_report && life) report(std::string(id), "running");
        };
        return options;
    }
    NodeServiceOptions node_options() const {
        NodeServiceOptions options;
        options.local_name = "node0";
        options.last_port = 10019;
        options.sysfs = directory.path() / "sys";
        return options;
    }
    static AgentSession session_template() {
        AgentSession session;
        session.service_urls = {"https://10.0.0.1:8443"};
        return session;
    }
    void end_life() {
        if (life) life->engine.stop(std::chrono::hours(1));
        std::lock_guard lock(life_mutex);
        life.reset();
    }
    void restart() {
        end_life();
        auto next = std::make_unique<Life>(*this);
        {
            std::lock_guard lock(life_mutex);
            life = std::move(next);
        }
        life->engine.recover();
    }

    // Of a machine that had another name: the runtime's own cannot be removed.
    void launch_on_old_node() {
        Node old = *nodes().get("node0");
        old.name = "old";
        life->nodes.create(old);
        NodePatch closed;
        closed.unschedulable = true;
        wait(nodes().patch("node0", closed, "test"));
        restart();
    }

    // Time passes, and whoever waits for it gets his turn: for loops that turn the clock until something is
    // over.
    void pass(Duration time) {
        clock.advance(time);
        std::this_thread::yield();
    }

    ImageService& images() { return life->image_service; }
    InstanceService& instances() { return life->instance_service; }
    NodeService& nodes() { return life->node_service; }
    Engine& engine() { return life->engine; }
    void configure(const std::string& key, const std::string& value) {
        REQUIRE(wait(life->config.patch({key, value}, "test"))->err.empty());
    }

    UploadedPackage upload(const std::string& bytes) {
        UploadedPackage uploaded;
        uploaded.blob = blobs.create(bytes.size());
        uploaded.blob->write(bytes);
        uploaded.info = uploaded.blob->finish();
        return uploaded;
    }
    UploadedPackage package(const PackageContent& content = {}) { return upload(image_package(content)); }
    std::shared_ptr<const Operation> wait(const Started& started) {
        return engine().wait(started->id.str(), std::nullopt);
    }
    std::shared_ptr<const Image> add_image(const std::string& name, const PackageContent& content = {}) {
        const auto done = wait(images().create({name, std::nullopt}, package(content), "", "test"));
        REQUIRE(done->err.empty());
        return images().get(name);
    }

    static InstanceCreate request(const std::string& image = "base") {
        InstanceCreate create;
        create.image_id = image;
        create.instance_type = "a2.3";
        return create;
    }
    Started launch(const InstanceCreate& create = request(), bool no_wait = false) {
        return instances().launch(create, no_wait, PathWord::containers, "test");
    }
    static std::string id_of(const Started& started) { return started->arguments.at("instance").as_string(); }
    std::string launched(const InstanceCreate& create = request()) {
        const Started started = launch(create);
        REQUIRE(wait(started)->err.empty());
        return id_of(started);
    }
    void report(const std::string& id, const std::string& status, const std::string& message = "") {
        InstanceReport report;
        report.status = status;
        report.error_code = message.empty() ? 0 : 1;
        report.error_message = message;
        instances().report(id, id, report);
    }
    InstanceStatus status(const std::string& id) { return instances().get(id)->status; }
    // Lifecycle actions of one container, without the prefix.
    static std::vector<std::string> of(const std::vector<std::string>& all, const std::string& id) {
        std::vector<std::string> own;
        for (const std::string& action : all)
            if (action.ends_with("/" + id)) own.push_back(action.substr(10, action.find(' ') - 10));
        return own;
    }
    std::vector<std::string> told(const std::string& id) { return of(actions.get(), id); }
    std::vector<std::string> await_told(const std::string& id, const std::string& last) {
        return of(actions.await([&](const auto& all) {
            const auto own = of(all, id);
            return !own.empty() && own.back() == last;
        }),
                  id);
    }
    // Nothing claims the instance any more: what events started is over.
    void settle(const std::string& id) {
        for (const auto& operation : engine().list())
            for (const std::string& claim : operation->claims)
                if (claim == "instances/" + id) engine().wait(operation->id.str(), std::nullopt);
    }
};

inline Life::Life(ServiceFixture& world)
    : images(world.store),
      applications(world.store),
      addons(world.store),
      config_records(world.store),
      nodes(world.store),
      instances(world.store),
      engine(world.store, world.bus, world.clock, world.ids, {.workers = 4}),
      content(world.blobs, world.layers),
      config(config_records, addons, engine),
      image_service({world.store, images, applications, content, engine, world.clock, world.ids, "x86_64"}),
      addon_service({addons, applications, instances, config_records, content, engine, world.clock}),
      node_service({nodes, world.runtime, config, engine, world.node_options()}),
      instance_service({instances,
                        images,
                        applications,
                        addons,
                        config,
                        content,
                        node_service,
                        world.runtime,
                        engine,
                        world.bus,
                        world.tokens,
                        world.clock,
                        world.ids,
                        world.session_template(),
                        {.log_dir = world.directory.path() / "logs"}}),
      exec_service(instances, world.runtime, engine, world.clock, world.ids) {
    // There is no service of applications here: their layers are theirs all the same.
    content.add_referrer([this](ContentReferences& used) {
        for (const auto& application : applications.list())
            for (const ApplicationVersion& version : application->versions)
                for (const std::string& layer : version.layers()) used.layers.insert(layer);
    });
}

}  // namespace svc::test

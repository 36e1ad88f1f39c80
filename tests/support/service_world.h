#pragma once
// The whole management service, as svcd composes it, over seams that a test controls: a store in memory whose
// commits fail or freeze, a simulated runtime whose calls fail or wait, a clock that is turned by hand, ids
// that count. Every fixture of service tests is built on it. A Life is one run of the service; what a restart
// keeps is in the world.
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/guarded.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/management/management_service.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/support/failing_store.h"
#include "tests/support/fake_runtime.h"
#include "tests/support/freezing_store.h"
#include "tests/support/image_package.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"
#include "tests/support/telling_clock.h"

namespace svc::test {

struct ServiceWorld;

// The ManagementService without what runs by itself (start() is not called), and its parts by the names that
// tests use.
struct Life {
    explicit Life(ServiceWorld& world);
    ManagementService management;
    Images& images = management.records().images;
    Nodes& nodes = management.records().nodes;
    RemovedNodes& removed_nodes = management.records().removed_nodes;
    Instances& instances = management.records().instances;
    Addons& addons = management.records().addons;
    Applications& applications = management.records().applications;
    Certificates& certificates = management.records().certificates;
    JoinTokens& join_tokens = management.records().join_tokens;
    ConfigRecords& config_records = management.records().config;
    Engine& engine = management.engine();
    Content& content = management.content();
    ConfigService& config = management.config();
    ImageService& image_service = management.images();
    ImageSync& image_sync = management.image_sync();
    AddonService& addon_service = management.addons();
    NodeService& node_service = management.nodes();
    InstanceService& instance_service = management.instances();
    ApplicationService& application_service = management.applications();
    CertificateService& certificate_service = management.certificates();
    OidcLogin& oidc = management.oidc();
    RegistryService& registry_service = management.registry();
    ExecService& exec_service = management.exec();
    Collection<Operation> operations;       // as the store has them
    std::unique_ptr<Subscription> changes;  // last: told after the collections
};

// What the machine of a world has, and its node.
struct WorldOptions {
    std::uint32_t cpus = 4;  // 16 with the default rate: eight instances
    std::uint64_t memory_bytes = std::uint64_t{1} << 40;
    std::uint64_t disk_bytes = std::uint64_t{30} << 30;
    std::string subnet = "10.0.0.1/8";
    std::uint16_t last_port = 10019;
    std::vector<std::string> nodes{};  // machines; empty: one, the node "node0"
};

struct ServiceWorld {
    const WorldOptions options;
    std::string boot_id = "first-boot";  // of the machine
    ManualClock clock;
    TellingClock service_clock{clock};
    SequenceIds ids;
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-world-"};
    SqliteStore sqlite{":memory:"};
    FailingStore failing_store{sqlite};
    FreezingStore freezing_store{failing_store};  // the one that the service has
    EventBus bus{clock};
    DirBlobStore blobs{{directory.path() / "blobs"}};
    AgentTokens tokens{directory.path() / "secret", clock};  // as the service issues and checks them
    IdentityServerFactory open_identity_server = svc::open_identity_server;  // asked at each login
    std::atomic<bool> guests_report{true};
    Guarded<std::function<int(const std::string& id)>>
        after_guest;                  // the exit status of what comes after a guest
    std::mutex mutex;                 // of `changed`
    std::condition_variable changed;  // notified when a record has changed or the store has frozen
    SimulatedRuntime simulated{clock, simulation()};
    FakeRuntime runtime{simulated};
    FakeLayers layers{simulated.layers()};
    std::shared_timed_mutex life_mutex;  // held by guests that report
    std::unique_ptr<Life> life = std::make_unique<Life>(*this);

    explicit ServiceWorld(WorldOptions given = {}) : options(std::move(given)) {
        freezing_store.on_frozen([this] { notify(); });
        life->management.recover();
    }
    ~ServiceWorld() { end_life(); }

    SimulatedOptions simulation() {
        SimulatedOptions made;
        made.cpus = options.cpus;
        made.memory_bytes = options.memory_bytes;
        made.disk_bytes = options.disk_bytes;
        made.subnet = options.subnet;
        made.nodes = options.nodes;
        made.max_nodes = options.nodes.empty() ? 0 : options.nodes.size() + 5;
        made.sysfs = directory.path() / "sys";
        made.run_once = [this](std::string_view id, const std::vector<std::string>&) {
            const auto after = after_guest.with([](const auto& current) { return current; });
            return after ? after(std::string(id)) : 0;
        };
        made.report_running = [this](std::string_view id) {
            if (guests_report) try_report(std::string(id));
        };
        return made;
    }
    NodeServiceOptions node_options() const {
        NodeServiceOptions made;
        made.local_name = "node0";
        made.last_port = options.last_port;
        return made;
    }
    ManagementOptions service_options() const {
        ManagementOptions made;
        made.token_secret = directory.path() / "secret";
        made.registry_keys = directory.path() / "registry";
        made.engine.workers = 4;
        made.nodes = node_options();
        made.instances.log_dir = directory.path() / "logs";
        made.instances.boot_id = boot_id;
        made.service_reach = [] { return ServiceReach{{"https://10.0.0.1:8443"}, std::string(64, 'a')}; };
        made.apk_parser = directory.path() / "aapt";  // where there is none unless a test puts one there
        made.bulk_deletions_at_once = 3;
        return made;
    }
    ManagementSeams seams() {
        ManagementSeams made{freezing_store, blobs, runtime, layers, bus, service_clock, ids};
        made.open_identity_server = [this](const auto& asked) { return open_identity_server(asked); };
        return made;
    }

    void set_life(std::unique_ptr<Life> next) {
        std::unique_lock lock(life_mutex, std::defer_lock);
        // A report that came when the engine had stopped already is waited for until its time is over.
        eventually("no report is under way", [&] {
            if (lock.try_lock_for(std::chrono::milliseconds(50))) return true;
            clock.advance(std::chrono::seconds(3));
            return false;
        });
        life = std::move(next);
    }
    void end_life() {
        if (life) life->engine.stop(std::chrono::hours(1));
        set_life(nullptr);
    }
    void begin_life() {
        set_life(std::make_unique<Life>(*this));
        life->management.recover();
    }
    void restart() {
        end_life();
        begin_life();
    }
    void notify() {
        const std::lock_guard lock(mutex);
        changed.notify_all();
    }

    Engine& engine() { return life->engine; }
    ImageService& images() { return life->image_service; }
    InstanceService& instances() { return life->instance_service; }
    const Instances& records() { return life->instance_service.records(); }
    NodeService& nodes() { return life->node_service; }

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
    void configure(const std::string& key, const std::string& value) {
        REQUIRE(wait(life->config.patch({key, value}, "test"))->err.empty());
    }
    std::shared_ptr<const Image> add_image(const std::string& name, const PackageContent& content = {}) {
        const auto done = wait(images().create({name, std::nullopt}, package(content), "", "test"));
        REQUIRE(done->err.empty());
        return images().get(name);
    }
    void report(const std::string& id, const std::string& status, const std::string& message = "",
                std::vector<std::string> notes = {}) {
        report(id, id, {status, message.empty() ? 0 : 1, message, std::move(notes)});
    }
    // Returns when the report is answered; throws what it was refused with.
    void report(const std::string& id, const std::string& sender, const InstanceReport& said) {
        const auto answered = std::make_shared<std::promise<std::optional<Error>>>();
        instances().reports().take(id, sender, said, [answered](const std::optional<Error>& failure) {
            answered->set_value(failure);
        });
        if (const auto failure = answered->get_future().get()) throw Error(*failure);
    }
    // As an agent, which asks again when it is not heard.
    void try_report(const std::string& id) {
        const std::shared_lock lock(life_mutex);
        if (!life) return;
        try {
            report(id, "running");
        } catch (const Error&) {
            return;
        }
    }
};

inline Life::Life(ServiceWorld& world)
    : management(world.seams(), world.service_options()),
      operations(world.freezing_store),
      changes(world.freezing_store.watch("", [&world](const auto&) { world.notify(); })) {}

}  // namespace svc::test

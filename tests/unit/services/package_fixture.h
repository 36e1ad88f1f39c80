#pragma once
// The services that keep packages, over a store in memory and simulated layers.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/process.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/services/addons/addon_service.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/error_code.h"
#include "tests/support/failing_store.h"
#include "tests/support/fake_runtime.h"
#include "tests/support/image_package.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"

namespace svc::test {

struct PackageFixture;

// One life of the daemon: what a restart makes anew.
struct PackageLife {
    explicit PackageLife(PackageFixture& world);
    Images images;
    Applications applications;
    Addons addons;
    Instances instances;
    ConfigRecords config_records;
    Content content;
    Engine engine;
    ImageService image_service;
    AddonService addon_service;
    ConfigService config_service;
};

struct PackageFixture {
    ManualClock clock;
    SequenceIds ids;
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-packages-"};
    SqliteStore sqlite{":memory:"};
    FailingStore store{sqlite};
    EventBus bus{clock};
    DirBlobStore blobs{{directory.path() / "blobs"}};
    SimulatedRuntime simulated{clock, {}};
    FakeLayers layers{simulated.layers()};
    std::unique_ptr<PackageLife> life = std::make_unique<PackageLife>(*this);

    ~PackageFixture() { end_life(); }

    void end_life() {
        if (life) life->engine.stop(std::chrono::hours(1));
        life.reset();
    }
    void restart() {
        end_life();
        life = std::make_unique<PackageLife>(*this);
        life->engine.recover();
        life->content.collect_garbage();
    }

    ImageService& images() { return life->image_service; }
    AddonService& addons() { return life->addon_service; }
    ConfigService& config() { return life->config_service; }
    Content& content() { return life->content; }
    Engine& engine() { return life->engine; }

    UploadedPackage upload(const std::string& bytes) {
        UploadedPackage uploaded;
        uploaded.blob = blobs.create(bytes.size());
        uploaded.blob->write(bytes);
        uploaded.info = uploaded.blob->finish();
        return uploaded;
    }
    UploadedPackage package(const PackageContent& content = {}) { return upload(image_package(content)); }
    // A bzip2 tarball of these files, the same bytes each time; those in hooks/ have `hook_mode`.
    UploadedPackage tarball(const std::map<std::string, std::string>& files, unsigned hook_mode = 0755) {
        const TemporaryDirectory folder(directory.path(), "tarball-");
        for (const auto& [path, text] : files) {
            std::filesystem::create_directories((folder.path() / path).parent_path());
            write_file_atomically(folder.path() / path, text, path.starts_with("hooks/") ? hook_mode : 0644);
        }
        const auto made =
            run_command({"/bin/tar", "-C", folder.path(), "--sort=name", "--mtime=@0", "-cj", "."},
                        std::chrono::seconds(60));
        REQUIRE(made.status.code == 0);
        return upload(made.output);
    }
    std::shared_ptr<const Operation> wait(const Started& started) {
        return engine().wait(started->id.str(), std::nullopt);
    }
    std::shared_ptr<const Image> add_image(const std::string& name, const PackageContent& content = {}) {
        const auto done = wait(images().create({name, std::nullopt}, package(content), "", "test"));
        REQUIRE(done->err.empty());
        return images().get(name);
    }
    void configure(const std::string& key, const std::string& value) {
        REQUIRE(wait(config().patch({key, value}, "test"))->err.empty());
    }
    // An application as far as images and addons look at it.
    Application add_application(const std::string& name, const std::function<void(Application&)>& fill) {
        Application application;
        application.id = ApplicationId(ids.object_id());
        application.name = name;
        fill(application);
        life->applications.create(application);
        return application;
    }
};

inline PackageLife::PackageLife(PackageFixture& world)
    : images(world.store),
      applications(world.store),
      addons(world.store),
      instances(world.store),
      config_records(world.store),
      content(world.blobs, world.layers),
      engine(world.store, world.bus, world.clock, world.ids, {.workers = 4}),
      image_service({world.store, images, applications, content, engine, world.clock, world.ids, "x86_64"}),
      addon_service({addons, applications, instances, config_records, content, engine, world.clock}),
      config_service(config_records, addons, engine) {}

}  // namespace svc::test

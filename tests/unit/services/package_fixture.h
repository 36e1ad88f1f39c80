#pragma once
// Images and addons. Applications are records alone here: nothing makes new versions of them.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "libsvc/base/processes/process.h"
#include "tests/support/service_world.h"

namespace svc::test {

struct PackageFixture : ServiceWorld {
    FailingStore& store = failing_store;

    PackageFixture() { leave_applications_alone(); }

    void leave_applications_alone() {
        images().on_new_version([](const std::string&) {});
        addons().on_new_version([](const std::string&) {});
    }
    void restart() {
        end_life();
        set_life(std::make_unique<Life>(*this));
        leave_applications_alone();
        life->management.recover();
        life->content.collect_garbage();
    }

    AddonService& addons() { return life->addon_service; }
    ConfigService& config() { return life->config; }
    Content& content() { return life->content; }

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

}  // namespace svc::test

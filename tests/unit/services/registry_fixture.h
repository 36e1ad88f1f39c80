#pragma once
// Services, and a directory that is their registry.
#include <thread>

#include "libsvc/services/registry/registry_service.h"
#include "tests/support/eventually.h"
#include "tests/unit/services/application_fixture.h"

namespace svc::test {

namespace fs = std::filesystem;

struct Station : ApplicationFixture {
    explicit Station(const fs::path& shared, const std::string& mode = "") {
        hold_what_is_published();
        set("registry.url", "file://" + shared.string());
        if (!mode.empty()) set("registry.mode", mode);
    }

    RegistryService& registry() { return life->registry_service; }
    bool is_stopping(const Started& running) {
        OperationSpec again;
        again.kind = running->kind;
        again.id = running->id.str();
        return code_of([&] { engine().start(again, {}); }) == ErrorCode::unavailable;
    }
    // As after kill -9 while `running` was on its way: nothing is on disk but what the store had taken by
    // then.
    void crash_and_begin(const Started& running) {
        std::jthread stopping([this] { life->engine.stop(std::chrono::hours(1)); });
        eventually("the engine refuses work", [&] { return is_stopping(running); });
        store.let_go();
        stopping.join();
        store.thaw();
        begin_again();
    }
    void begin_again() {
        end_life();
        set_life(std::make_unique<Life>(*this));
        hold_what_is_published();
        life->management.recover();
        life->content.collect_garbage();
    }
    // Most tests tell when something is sent: nothing is until they synchronise.
    void hold_what_is_published() {
        service().publication().on_published([](const std::string&) {});
    }
    // As the service does it by itself.
    void send_what_is_published() {
        service().publication().on_published([this](const std::string& id) { registry().published(id); });
    }
    void synchronise() {
        registry().synchronise();
        settle();
    }
    std::string push(const std::string& name) { return wait(registry().push(name, "test"))->err; }
    std::string pull(const std::string& name) { return wait(registry().pull(name, "test"))->err; }
    std::vector<int> numbers(const std::string& name = "candy") {
        std::vector<int> found;
        if (!exists(name)) return found;
        const auto application = app(name);
        for (const auto& version : application->versions) found.push_back(version.number);
        return found;
    }
    void add_version(const std::string& text, const std::string& name = "candy") {
        REQUIRE(bootstrapped(update(name, "name: " + name + "\nversion: '" + text + "'\n")) == "");
    }
};

struct TwoStations {
    TemporaryDirectory shared{fs::temp_directory_path(), "svc-registry-"};
    fs::path root = shared.path() / "applications";
    Station publisher{root, "push"};
    Station client{root, "pull"};

    TwoStations() { fs::create_directory(root); }
    // Of the registry itself.
    std::vector<int> offered(const std::string& name = "candy") {
        std::vector<int> found;
        for (const auto& application : publisher.registry().list())
            if (application.name == name)
                for (const auto& version : application.versions) found.push_back(version.number);
        return found;
    }
    fs::path version_path(int number) const { return root / "candy" / std::to_string(number) / "x86_64"; }
};

// One station without anything.
struct LoneStation {
    TemporaryDirectory shared{fs::temp_directory_path(), "svc-registry-"};
    Station station{shared.path()};
};

}  // namespace svc::test

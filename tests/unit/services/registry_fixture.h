#pragma once
// Services and a directory that is their registry.
#include <thread>

#include "libsvc/services/registry/registry_service.h"
#include "tests/unit/services/application_fixture.h"

namespace svc::test {

namespace fs = std::filesystem;

struct Station;

// What the registry needs beside the applications; made anew with each life.
struct RegistryLife {
    explicit RegistryLife(Station& station);
    Certificates certificates;
    JoinTokens tokens;
    CertificateService certificate_service;
    RegistryService registry;
};

struct Station : ApplicationFixture {
    std::unique_ptr<RegistryLife> part = std::make_unique<RegistryLife>(*this);

    explicit Station(const fs::path& shared, const std::string& mode = "") {
        set("registry.url", "file://" + shared.string());
        if (!mode.empty()) set("registry.mode", mode);
    }
    ~Station() { life->engine.stop(std::chrono::hours(1)); }

    RegistryService& registry() { return part->registry; }
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
        while (!is_stopping(running)) std::this_thread::yield();
        store.let_go();
        stopping.join();
        store.thaw();
        begin_again();
    }
    void begin_again() {
        life->engine.stop(std::chrono::hours(1));
        part.reset();
        life.reset();
        life = std::make_unique<ApplicationLife>(*this);
        part = std::make_unique<RegistryLife>(*this);
        life->engine.recover();
        life->content.collect_garbage();
    }
    // As the daemon wires it.
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

inline RegistryLife::RegistryLife(Station& station)
    : certificates(station.store),
      tokens(station.store),
      certificate_service(certificates, tokens, station.life->config, station.life->engine, station.clock,
                          station.ids),
      registry({station.life->application_service, certificate_service, station.life->config, station.blobs,
                station.life->engine, station.directory.path() / "registry", "x86_64"}) {}

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

// Two services and a directory that is their registry.
#include "libsvc/services/registry_service.h"

#include <atomic>
#include <future>
#include <thread>

#include "libsvc/base/digest.h"
#include "libsvc/services/registry_choice.h"
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;
namespace fs = std::filesystem;

namespace {

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
        service().on_published([this](const std::string& id) { registry().published(id); });
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

RegistryLife::RegistryLife(Station& station)
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

}  // namespace

TEST_CASE_METHOD(TwoStations, "a published application reaches the other service, immutable") {
    publisher.created("name: candy\ntags: [game]\nversion: '1.2'\n");
    const auto pushed = publisher.wait(publisher.registry().push("candy", "uid=0"));
    CHECK(pushed->err == "");
    CHECK(pushed->description == "Pushing application");
    CHECK(pushed->requestor == "uid=0");
    CHECK(pushed->resources.at("applications").at(0) == "/1.0/applications/candy");
    const auto pulled = client.wait(client.registry().pull("candy", "test"));
    CHECK(pulled->err == "");
    CHECK(pulled->description == "Pulling application");
    const auto application = client.app();
    CHECK(application->immutable);
    CHECK(application->tags == std::vector<std::string>{"game"});
    CHECK(client.version(0).status == ImageStatus::active);
    CHECK(client.version(0).published);
    CHECK(client.version(0).manifest.version == "1.2");
}

TEST_CASE_METHOD(TwoStations, "the registry shows what was published") {
    publisher.created("name: candy\ntags: [game]\nfeatures: [a]\nvideo-encoder: software\n");
    REQUIRE(publisher.push("candy") == "");
    const auto list = client.registry().list();
    REQUIRE(list.size() == 1);
    CHECK(list[0].architectures == std::vector<std::string>{"x86_64"});
    CHECK(list[0].tags == std::vector<std::string>{"game"});
    CHECK(list[0].versions.at(0).details.at("video_encoder").as_string() == "software");
    CHECK(list[0].versions.at(0).details.at("features").dump() == "[\"a\"]");
}

TEST_CASE_METHOD(TwoStations, "a publisher sends what is published by itself, and nothing else") {
    publisher.created();
    publisher.set("application.auto_publish", "false");
    publisher.add_version("2");
    publisher.synchronise();
    CHECK(offered() == std::vector<int>{0});
    publisher.succeed(publisher.service().publish("candy", 1, true, "test"));
    publisher.synchronise();
    CHECK(offered() == std::vector<int>{0, 1});
    const std::size_t operations = publisher.engine().list().size();
    publisher.synchronise();
    CHECK(publisher.engine().list().size() == operations);  // nothing to do: no operation
}

TEST_CASE_METHOD(TwoStations, "what is published is sent at once by a publisher, and by nobody else") {
    publisher.send_what_is_published();
    publisher.created();
    publisher.settle();
    CHECK(offered() == std::vector<int>{0});
    publisher.set("application.auto_publish", "false");
    publisher.add_version("2");
    publisher.settle();
    CHECK(offered() == std::vector<int>{0});
    publisher.succeed(publisher.service().publish("candy", 1, true, "test"));
    publisher.settle();
    CHECK(offered() == std::vector<int>{0, 1});
    client.send_what_is_published();
    client.created("name: own\n");
    client.settle();
    CHECK(offered("own").empty());
}

TEST_CASE_METHOD(TwoStations, "a client takes new versions by itself, once") {
    publisher.created();
    publisher.synchronise();
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{0});
    publisher.add_version("2");
    publisher.synchronise();
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{0, 1});
    CHECK(client.published() == std::vector<int>{0, 1});
    const std::size_t operations = client.engine().list().size();
    client.synchronise();
    CHECK(client.engine().list().size() == operations);
}

TEST_CASE_METHOD(TwoStations, "what is no longer in the registry goes at the next comparison") {
    publisher.created();
    publisher.synchronise();
    client.synchronise();
    client.created("name: own\n");
    const auto removed = publisher.wait(publisher.registry().remove("candy", "test"));
    CHECK(removed->err == "");
    CHECK(removed->description == "Deleting application from registry");
    client.synchronise();
    CHECK_FALSE(client.exists("candy"));
    CHECK(client.exists("own"));
}

TEST_CASE_METHOD(TwoStations, "nothing is removed while the registry cannot be reached") {
    publisher.created();
    publisher.synchronise();
    client.synchronise();
    fs::rename(root, shared.path() / "away");
    CHECK(code_of([&] { client.registry().synchronise(); }) == ErrorCode::unavailable);
    client.settle();
    CHECK(client.exists("candy"));
}

TEST_CASE_METHOD(TwoStations,
                 "what was deleted from the registry stays out until something new is published") {
    publisher.created();
    publisher.synchronise();
    publisher.succeed(publisher.registry().remove("candy", "test"));
    publisher.synchronise();
    CHECK(offered().empty());
    SECTION("a later version") {
        publisher.add_version("2");
        publisher.synchronise();
        CHECK(offered() == std::vector<int>{1});
    }
    SECTION("asked for") {
        CHECK(publisher.push("candy") == "");
        CHECK(offered() == std::vector<int>{0});
    }
    SECTION("after a restart") {
        publisher.begin_again();
        publisher.synchronise();
        CHECK(offered().empty());
    }
}

TEST_CASE_METHOD(TwoStations, "a local application of that name is left alone") {
    publisher.created();
    publisher.synchronise();
    client.created("name: candy\ntags: [own]\n");
    CHECK(message_of([&] { client.registry().pull("candy", "test"); }) ==
          "application 'candy' already exists");
    CHECK(code_of([&] { client.registry().pull("candy", "test"); }) == ErrorCode::conflict);
    client.synchronise();
    CHECK_FALSE(client.app()->immutable);
    CHECK(client.app()->tags == std::vector<std::string>{"own"});
}

TEST_CASE_METHOD(TwoStations, "a filter takes only applications with one of its tags") {
    publisher.created("name: candy\ntags: [game, sweet]\n");
    publisher.created("name: other\ntags: [work]\n");
    publisher.created("name: plain\n");
    publisher.synchronise();
    client.set("registry.filter", "sweet, salty");
    client.synchronise();
    CHECK(client.exists("candy"));
    CHECK_FALSE(client.exists("other"));
    CHECK_FALSE(client.exists("plain"));
    CHECK(client.registry().list().size() == 1);
    client.set("registry.filter", "work");
    client.synchronise();
    CHECK(client.exists("other"));
    CHECK(client.exists("candy"));  // still in the registry
}

TEST_CASE_METHOD(TwoStations, "only as many versions as may be published are taken, the newest") {
    publisher.created();
    publisher.set("application.max_published_versions", "10");
    for (int i = 1; i < 4; ++i) publisher.add_version(std::to_string(i));
    publisher.synchronise();
    REQUIRE(offered() == std::vector<int>{0, 1, 2, 3});
    client.set("application.max_published_versions", "2");
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{2, 3});
    publisher.add_version("4");
    publisher.synchronise();
    client.synchronise();
    client.settle();
    CHECK(client.numbers() == std::vector<int>{3, 4});
    client.synchronise();
    CHECK(client.numbers() == std::vector<int>{3, 4});
}

TEST_CASE_METHOD(TwoStations,
                 "an archive that was changed in the registry is refused; the next comparison repeats") {
    publisher.created();
    publisher.synchronise();
    const auto archive = version_path(0) / "archive.tar.gz";
    const std::string good = read_file(archive);
    std::string bad = good;
    bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
    write_file_atomically(archive, bad);
    const std::size_t blobs = client.blobs.list().size();
    client.synchronise();
    CHECK_FALSE(client.exists("candy"));
    CHECK(client.pull("candy").find("fingerprint don't match") != std::string::npos);
    CHECK(client.blobs.list().size() == blobs);
    write_file_atomically(archive, good);
    client.synchronise();
    CHECK(client.exists("candy"));
}

TEST_CASE_METHOD(TwoStations, "an archive under another name or number is refused") {
    publisher.created();
    publisher.synchronise();
    const fs::path other = root / "other";
    fs::copy(root / "candy", other, fs::copy_options::recursive);
    Json details = Json::parse(read_file(other / "0/x86_64/details.json"));
    details.set("name", "other");
    write_file_atomically(other / "0/x86_64/details.json", details.dump());
    CHECK(client.pull("other").find("archive is that of another application version") != std::string::npos);
    CHECK_FALSE(client.exists("other"));
}

TEST_CASE_METHOD(TwoStations, "one version that cannot be had does not keep the others away") {
    publisher.created();
    publisher.add_version("2");
    publisher.synchronise();
    write_file_atomically(version_path(0) / "archive.tar.gz", "damaged");
    CHECK(client.pull("candy").starts_with("version 0: "));
    CHECK(client.numbers() == std::vector<int>{1});
}

TEST_CASE_METHOD(TwoStations, "a pull goes on after a crash at any commit, and nothing half is seen") {
    publisher.created();
    publisher.add_version("2");
    publisher.synchronise();
    bool crashed = true;
    std::size_t commits = 1;
    for (; crashed && commits < 40; ++commits) {
        Station station(root, "pull");
        station.store.freeze_after(commits);
        const Started started = station.registry().pull("candy", "test");
        const auto is_active = [&](int number) {
            const auto application = station.life->applications.find("candy");
            const auto* version = application ? application->version(number) : nullptr;
            return version != nullptr && version->status == ImageStatus::active;
        };
        station.await([&] { return station.store.is_frozen() || (is_active(0) && is_active(1)); });
        crashed = station.store.is_frozen();
        station.crash_and_begin(started);
        INFO("crash after commit " << commits);
        CHECK(station.wait(started)->err == "");
        station.settle();  // an import that was begun goes on by itself
        CHECK(station.published() == std::vector<int>{0, 1});
        CHECK(station.blobs.list().size() == 1);  // the base image's
    }
    CHECK(commits > 4);
}

TEST_CASE_METHOD(TwoStations, "a cancelled pull leaves nothing") {
    publisher.created();
    publisher.synchronise();
    std::promise<void> reached, go_on;
    client.layers.before_add([&] {
        reached.set_value();
        go_on.get_future().wait();
    });
    const auto started = client.registry().pull("candy", "test");
    reached.get_future().wait();
    client.engine().cancel(started->id.str());
    CHECK(client.wait(started)->status == OperationStatus::cancelled);
    go_on.set_value();
    client.settle();
    CHECK_FALSE(client.exists("candy"));
}

TEST_CASE_METHOD(TwoStations, "one name is transferred once at a time") {
    publisher.created();
    std::promise<void> reached, go_on;
    std::atomic<bool> first{true};
    publisher.layers.before_export([&] {
        if (!first.exchange(false)) return;
        reached.set_value();
        go_on.get_future().wait();
    });
    const auto started = publisher.registry().push("candy", "test");
    reached.get_future().wait();
    CHECK(message_of([&] { publisher.registry().push("candy", "test"); }) ==
          "Pushing application already in progress");
    publisher.registry().synchronise();  // leaves it alone
    go_on.set_value();
    publisher.succeed(started);
}

TEST_CASE_METHOD(TwoStations, "each mode allows its direction alone, manual both") {
    publisher.created();
    CHECK(code_of([&] { publisher.registry().pull("candy", "test"); }) == ErrorCode::invalid_argument);
    CHECK(message_of([&] { publisher.registry().pull("candy", "test"); }).ends_with(" not allowed"));
    CHECK(message_of([&] { client.registry().push("candy", "test"); }).ends_with(" not allowed"));
    publisher.set("registry.mode", "manual");
    publisher.synchronise();
    CHECK(offered().empty());
    CHECK(publisher.push("candy") == "");
    client.set("registry.mode", "manual");
    client.synchronise();
    CHECK_FALSE(client.exists("candy"));
    CHECK(client.pull("candy") == "");
    CHECK(client.exists("candy"));
}

TEST_CASE_METHOD(TwoStations, "what cannot be pushed or pulled is refused") {
    publisher.set("application.auto_publish", "false");
    publisher.created();
    CHECK(message_of([&] { publisher.registry().push("candy", "test"); }) ==
          "published application version not found");
    CHECK(code_of([&] { publisher.registry().push("candy", "test"); }) == ErrorCode::not_found);
    CHECK(code_of([&] { publisher.registry().push("absent", "test"); }) == ErrorCode::not_found);
    CHECK(client.pull("absent") == "application not found in the registry");
    CHECK(code_of([&] { client.registry().pull("../x", "test"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { client.registry().pull("0123456789abcdefghij", "test"); }) == ErrorCode::not_found);
    CHECK(client.wait(client.registry().remove("absent", "test"))->err ==
          "application not found in the registry");
}

TEST_CASE_METHOD(LoneStation, "without an address nothing works") {
    station.set("registry.url", "");
    const auto words = [&](auto&& work) { return message_of(work); };
    RegistryService& registry = station.registry();
    CHECK(words([&] { registry.list(); }) == "registry not configured");
    CHECK(words([&] { registry.push("x", ""); }) == "registry not configured");
    CHECK(words([&] { registry.pull("x", ""); }) == "registry not configured");
    CHECK(words([&] { registry.remove("x", ""); }) == "registry not configured");
    CHECK(words([&] { registry.synchronise(); }) == "registry not configured");
}

TEST_CASE_METHOD(LoneStation, "over the network the registry's certificate must be trusted") {
    const auto words = [&] { return message_of([&] { station.registry().list(); }); };
    station.set("registry.url", "https://127.0.0.1:1");
    CHECK(words() == "registry certificate is not trusted");
    const std::string fingerprint = sha256_hex("a certificate");
    station.set("registry.fingerprint", fingerprint);
    CHECK(words() == "registry certificate is not trusted");
    Certificate certificate;
    certificate.fingerprint = fingerprint;
    station.part->certificates.create(certificate);
    CHECK(words().starts_with("registry cannot be reached: "));
    CHECK(fs::exists(station.directory.path() / "registry/client.crt"));
}

TEST_CASE("the newest versions that are not here are wanted, of the right architecture") {
    CatalogueApplication offered;
    offered.architectures = {"x86_64"};
    for (const int number : {1, 2, 5, 9}) offered.versions.push_back({number, Json::object()});
    Application local;
    local.versions.resize(1);
    local.versions[0].number = 5;
    CHECK(versions_to_pull(offered, nullptr, "x86_64", 3) == std::vector<int>{2, 5, 9});
    CHECK(versions_to_pull(offered, &local, "x86_64", 3) == std::vector<int>{2, 9});
    CHECK(versions_to_pull(offered, &local, "x86_64", 100) == std::vector<int>{1, 2, 9});
    CHECK(versions_to_pull(offered, nullptr, "aarch64", 3).empty());
}

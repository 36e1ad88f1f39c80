// Single transfers, and how they fail.
#include <future>

#include "libsvc/base/digest.h"
#include "libsvc/services/registry/catalogue_versions.h"
#include "tests/unit/services/registry_fixture.h"

using namespace svc;
using namespace svc::test;

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
        CHECK(station.published() == std::vector<int>{0, 1});
        station.settle();                         // blobs are dropped after the end
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

namespace {

std::vector<Started> operations_of(Station& station, const std::string& kind) {
    auto all = station.engine().list();
    std::erase_if(all, [&](const Started& operation) { return operation->kind != kind; });
    return all;
}

}  // namespace

TEST_CASE_METHOD(TwoStations, "who asks for a push that is under way waits for its end") {
    publisher.created();
    Gate gate;
    publisher.layers.before_export([&] { gate.pass(); });
    publisher.registry().synchronise();
    gate.await();
    const auto joined = publisher.registry().push("candy", "test");
    CHECK(publisher.registry().push("candy", "test")->id == joined->id);
    publisher.registry().synchronise();  // leaves it alone
    CHECK(operations_of(publisher, "registry.push").size() == 1);
    CHECK_FALSE(is_final(publisher.engine().get(joined->id.str())->status));
    gate.open();
    publisher.succeed(joined);
    CHECK(offered() == std::vector<int>{0});
}

TEST_CASE_METHOD(TwoStations, "a push that wants more than the one under way goes behind it") {
    publisher.created();
    publisher.synchronise();
    publisher.succeed(publisher.registry().remove("candy", "test"));  // version 0 stays out by itself
    publisher.add_version("2");
    Gate gate;
    publisher.layers.before_export([&] { gate.pass(); });
    publisher.registry().synchronise();
    gate.await();
    const auto all = publisher.registry().push("candy", "test");
    CHECK(publisher.engine().get(all->id.str())->requestor == "test");
    gate.open();
    publisher.succeed(all);
    CHECK(offered() == std::vector<int>{0, 1});
}

TEST_CASE_METHOD(TwoStations, "a push to another registry goes behind the one under way") {
    publisher.created();
    const fs::path other = shared.path() / "other";
    fs::create_directory(other);
    Gate gate;
    publisher.layers.before_export([&] { gate.pass(); });
    publisher.registry().synchronise();
    gate.await();
    publisher.set("registry.url", "file://" + other.string());
    const auto elsewhere = publisher.registry().push("candy", "test");
    gate.open();
    publisher.succeed(elsewhere);
    CHECK(fs::exists(other / "candy/0/x86_64/archive.tar.gz"));
    CHECK(fs::exists(version_path(0) / "archive.tar.gz"));
}

TEST_CASE_METHOD(TwoStations, "who asks for a pull that is under way waits for its end") {
    publisher.created();
    publisher.synchronise();
    Gate gate;
    client.layers.before_add([&] { gate.pass(); });
    client.registry().synchronise();
    gate.await();
    const auto joined = client.registry().pull("candy", "test");
    CHECK(operations_of(client, "registry.pull").size() == 1);
    gate.open();
    client.succeed(joined);
    CHECK(client.numbers() == std::vector<int>{0});
}

TEST_CASE("a transfer covers another that brings no more to the same place") {
    const auto push = [](const char* url, const JsonArray& versions) {
        return Json::object({{"name", "candy"}, {"application", "id"}, {"url", url}, {"versions", versions}});
    };
    CHECK(covers(push("here", {0, 1}), push("here", {1})));
    CHECK_FALSE(covers(push("here", {1}), push("here", {0, 1})));
    CHECK_FALSE(covers(push("there", {1}), push("here", {1})));
    CHECK_FALSE(covers(Json::object({{"name", "candy"}, {"application", "id"}}), push("here", {1})));
    CHECK_FALSE(covers(Json::object({{"name", "other"}}), Json::object({{"name", "candy"}})));
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
    station.life->certificates.create(certificate);
    CHECK(words().starts_with("registry cannot be reached: "));
    CHECK(fs::exists(station.directory.path() / "registry/client.crt"));
}

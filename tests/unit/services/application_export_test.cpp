// Versions that travel.
#include "libsvc/base/digest.h"
#include "libsvc/formats/archive.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/services/images/image_package.h"
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

Json metadata_of(ApplicationFixture& world, const std::string& archive) {
    const auto file = world.directory.path() / "export.tar.gz";
    write_file_atomically(file, archive);
    bool searched_all = false;
    return parse_yaml(
        read_archive_member(file, "metadata.yaml", 1U << 20U, 1U << 30U, &searched_all).value());
}

ImportedVersion imported(ApplicationFixture& world, const std::string& archive) {
    ImportedVersion version;
    version.version = ExportedVersion::from_json(metadata_of(world, archive).at("application"));
    version.architecture = "x86_64";
    version.archive = world.upload(archive);
    return version;
}

std::string exported_candy(const std::string& manifest) {
    ApplicationFixture world;
    world.created(manifest);
    return read_all(*world.service().exports().export_version("candy", 0).archive);
}

}  // namespace

TEST_CASE("an export is what its fingerprint says, each time") {
    ApplicationFixture world;
    world.created();
    ApplicationExport first = world.service().exports().export_version("candy", 0);
    const std::string bytes = read_all(*first.archive);
    CHECK(sha256_hex(bytes) == first.fingerprint);
    CHECK(bytes.size() == first.size);
    CHECK(first.file_name == "candy-0.tar.gz");
    CHECK(first.manifest_sha256 == sha256_hex(world.service().records().manifest("candy", 0)));
    CHECK(world.version(0).exports.at("gzip").fingerprint == first.fingerprint);
    ApplicationExport second = world.service().exports().export_version("candy", 0);
    CHECK(second.fingerprint == first.fingerprint);
    CHECK(read_all(*second.archive) == bytes);
}

TEST_CASE("an export by zstd has a fingerprint of its own, and is imported as the other") {
    ApplicationFixture world;
    world.created();
    const std::string gzip = world.service().exports().export_version("candy", 0).fingerprint;
    ApplicationExport prepared = world.service().exports().export_version("candy", 0, Compression::zstd);
    const std::string bytes = read_all(*prepared.archive);
    CHECK(sha256_hex(bytes) == prepared.fingerprint);
    CHECK(bytes.size() == prepared.size);
    CHECK(prepared.file_name == "candy-0.tar.zst");
    CHECK(world.version(0).exports.at("gzip").fingerprint == gzip);
    CHECK(world.version(0).exports.at("zstd").fingerprint == prepared.fingerprint);
    ApplicationFixture other;
    other.succeed(other.service().imports().import_version(imported(other, bytes), "test"));
    CHECK(other.version(0).layers() == std::vector<std::string>{prepared.fingerprint});
}

TEST_CASE("an archive is made once for its first export, and once for each later one") {
    ApplicationFixture world;
    world.created();
    int made = 0;
    world.layers.before_export([&] { ++made; });
    read_all(*world.service().exports().export_version("candy", 0).archive);
    CHECK(made == 1);
    read_all(*world.service().exports().export_version("candy", 0).archive);
    CHECK(made == 2);
}

TEST_CASE("a fingerprint is not told of an archive in another format") {
    ApplicationFixture world;
    world.created();
    const auto export_candy = [&] {
        ApplicationExport made = world.service().exports().export_version("candy", 0);
        const std::string bytes = read_all(*made.archive);
        CHECK(sha256_hex(bytes) == made.fingerprint);
        CHECK(bytes.size() == made.size);
        return bytes;
    };
    const std::string ours = export_candy();
    for (const char* old : {"as an old node makes it", "as another old node makes it"}) {
        world.layers.next_export(std::make_unique<OldArchive>(old));
        CHECK(export_candy() == old);
    }
    CHECK(export_candy() == ours);
}

TEST_CASE("a patch of what an export says makes another export") {
    ApplicationFixture world;
    world.created();
    const std::string before = world.service().exports().export_version("candy", 0).fingerprint;
    world.succeed(world.patch("candy", R"({"tags":["x"]})"));
    ApplicationExport after = world.service().exports().export_version("candy", 0);
    CHECK(after.fingerprint != before);
    CHECK(sha256_hex(read_all(*after.archive)) == after.fingerprint);
}

TEST_CASE("layers stay while an export is read") {
    ApplicationFixture world;
    world.created();
    const std::string layer = world.version(0).layer;
    auto running = world.service().exports().export_version("candy", 0);
    world.succeed(world.service().removal().remove("candy", false, "test"));
    CHECK(world.layers.contains(layer));
    CHECK(sha256_hex(read_all(*running.archive)) == running.fingerprint);
    running.archive.reset();
    CHECK_FALSE(world.layers.contains(layer));
}

TEST_CASE("only active versions can be exported") {
    ApplicationFixture world;
    world.guests_report = false;
    world.create();
    const std::string base = world.await_base();
    CHECK(message_of([&] { world.service().exports().export_version("candy", 0); }) ==
          "exporting version 0 not allowed: it is initializing");
    CHECK(code_of([&] { world.service().exports().export_version("candy", 1); }) == ErrorCode::not_found);
    world.report(base, "running");
    world.await_active(0);
}

TEST_CASE("an export is an image with the same readiness check") {
    ApplicationFixture world;
    const std::string archive = exported_candy("name: candy\n");
    world.succeed(
        world.life->image_service.create({"again", std::nullopt}, world.upload(archive), "", "test"));
    const auto image = world.life->image_service.get("again");
    CHECK(image->newest_active()->metadata.ready->file == "/run/ready");
    CHECK(image->architecture() == "x86_64");
}

TEST_CASE("an imported version is the one that was exported, and immutable") {
    ApplicationFixture world;
    const std::string archive = exported_candy(
        "name: candy\nversion: \"7\"\ntags: [game]\ninstance-type: a4.3\nresources: {cpus: 3}\n");
    world.succeed(world.service().imports().import_version(imported(world, archive), "test"));
    const auto app = world.app();
    CHECK(app->immutable);
    CHECK(app->status() == ApplicationStatus::ready);
    CHECK(app->tags == std::vector<std::string>{"game"});
    CHECK(app->instance_type == "a4.3");
    CHECK(app->effective_resources().cpus == 3);
    CHECK(app->abi == "x86_64");
    const ApplicationVersion version = world.version(0);
    CHECK(version.published);
    CHECK(version.manifest.version == "7");
    CHECK(version.layers() == std::vector<std::string>{sha256_hex(archive)});
    CHECK(version.ready->file == "/run/ready");
    CHECK(version.packages.size() == 1);
    CHECK_FALSE(world.blobs.contains(sha256_hex(archive)));  // only the layer is needed from here on
    CHECK(code_of([&] { world.patch("candy", "{}"); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { world.update("candy", "name: candy\nversion: \"2\"\n"); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { world.service().publication().publish("candy", 0, false, "test"); }) ==
          ErrorCode::forbidden);
    CHECK(code_of([&] { world.service().removal().remove_version("candy", 0, false, "test"); }) ==
          ErrorCode::forbidden);
    CHECK(code_of([&] { world.service().removal().remove("candy", false, "test"); }) == ErrorCode::forbidden);
    world.succeed(world.service().removal().remove("candy", true, "test"));
    CHECK(world.layers.list().size() == 1);
}

TEST_CASE("versions are imported once, under their own number") {
    ApplicationFixture world;
    const std::string archive = exported_candy("name: candy\n");
    ImportedVersion fourth = imported(world, archive);
    fourth.version.version = 4;
    world.succeed(world.service().imports().import_version(std::move(fourth), "test"));
    ImportedVersion second = imported(world, archive);
    second.version.version = 2;
    second.version.tags = {"old"};
    world.succeed(world.service().imports().import_version(std::move(second), "test"));
    ImportedVersion again = imported(world, archive);
    again.version.version = 4;
    world.succeed(world.service().imports().import_version(std::move(again), "test"));
    const auto app = world.app();
    REQUIRE(app->versions.size() == 2);
    CHECK(app->versions[0].number == 2);
    CHECK(app->versions[1].number == 4);
    CHECK(app->next_version == 5);
    CHECK(app->tags.empty());
}

TEST_CASE("imports that fail or meet another application leave nothing") {
    ApplicationFixture world;
    const std::string archive = exported_candy("name: candy\n");
    SECTION("broken") {
        world.layers.before_add([] { throw Error(ErrorCode::exhausted, "disk is full"); });
        CHECK(world.wait(world.service().imports().import_version(imported(world, archive), "test"))->err ==
              "disk is full");
        CHECK_FALSE(world.exists("candy"));
        CHECK(world.blobs.list().size() == 1);
    }
    SECTION("of a local one's name") {
        world.created();
        CHECK(code_of([&] { world.service().imports().import_version(imported(world, archive), "test"); }) ==
              ErrorCode::conflict);
        CHECK_FALSE(world.app()->immutable);
    }
}

TEST_CASE("an import goes on after a crash at any commit") {
    const std::string archive = exported_candy("name: candy\n");
    bool crashed = true;
    std::size_t commits = 1;
    for (; crashed && commits < 30; ++commits) {
        ApplicationFixture world;
        world.store.freeze_after(commits);
        const Started started = world.service().imports().import_version(imported(world, archive), "test");
        world.await([&] {
            if (world.store.is_frozen()) return true;
            return world.app()->status() == ApplicationStatus::ready;
        });
        crashed = world.store.is_frozen();
        world.crash();
        world.begin_life();
        INFO("crash after commit " << commits);
        CHECK(world.wait(started)->err == "");
        CHECK(world.version(0).published);
    }
    CHECK(commits > 2);
}

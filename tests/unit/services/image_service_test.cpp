#include "libsvc/services/images/image_service.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "libsvc/base/processes/process.h"
#include "tests/unit/services/package_fixture.h"
#include "tests/unit/services/rivals.h"

using namespace svc;
using namespace svc::test;

namespace {

struct ImageFixture : PackageFixture {
    // The bytes of a package, packed another way.
    std::string packed(const std::vector<std::string>& options, const std::string& metadata) {
        const auto folder = directory.path() / "package";
        std::filesystem::create_directories(folder / "rootfs");
        write_file_atomically(folder / "rootfs/file", "content", 0644);
        if (!metadata.empty()) write_file_atomically(folder / "metadata.yaml", metadata, 0644);
        std::vector<std::string> arguments{"/bin/tar", "-C", folder};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(), {"-f", directory.path() / "packed", "."});
        REQUIRE(run_command(arguments, std::chrono::seconds(60)).status.code == 0);
        return read_file(directory.path() / "packed");
    }
    std::string refusal(const std::string& bytes) {
        return message_of([&] { images().create({"x", {}}, upload(bytes), "", "test"); });
    }
    std::vector<std::string> defaults() {
        std::vector<std::string> names;
        for (const auto& image : images().list())
            if (image->is_default) names.push_back(image->name);
        return names;
    }
    std::string fingerprint(const std::string& name) {
        return images().get(name)->versions.back().fingerprint;
    }
    bool is_kept(const std::string& fingerprint) {
        return blobs.contains(fingerprint) && simulated.layers().contains(fingerprint);
    }
    bool is_gone(const std::string& fingerprint) {
        return !blobs.contains(fingerprint) && !simulated.layers().contains(fingerprint);
    }
};

constexpr const char* metadata = "architecture: x86_64\ncreation_date: 1\n";

}  // namespace

TEST_CASE_METHOD(ImageFixture, "an uploaded image becomes active, its package and layer are kept") {
    const auto started = images().create({"base", {}}, package(), "", "uid=0");
    CHECK(started->description == "Adding image");
    const auto done = wait(started);
    CHECK(done->status == OperationStatus::success);
    CHECK(done->requestor == "uid=0");
    const auto image = images().get("base");
    CHECK(done->resources.at("images").at(0) == "/1.0/images/" + image->id.str());
    CHECK(image->status() == ImageStatus::active);
    CHECK(image->architecture() == "x86_64");
    CHECK(image->versions[0].root_size > 0);
    CHECK(image->versions[0].metadata.ready->file == "/run/ready");
    CHECK(is_kept(fingerprint("base")));
}

TEST_CASE_METHOD(ImageFixture, "the record and its operation exist before the package is unpacked") {
    const auto started = images().create({"base", {}}, package(), "", "test");
    CHECK(sqlite.get("operations/" + started->id.str()));
    CHECK(images().get("base"));
    wait(started);
}

TEST_CASE_METHOD(ImageFixture, "a name is taken once, also by two uploads at the same moment") {
    add_image("base");
    CHECK(message_of([&] { images().check_create({"base", {}}); }) == "image already exists");
    std::atomic<int> made{0}, refused{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, i] {
                auto uploaded = package({.text = std::to_string(i)});
                try {
                    wait(images().create({"other", {}}, std::move(uploaded), "", "test"));
                    ++made;
                } catch (const Error& e) {
                    if (e.code() == ErrorCode::conflict && e.what() == std::string("image already exists"))
                        ++refused;
                }
            });
    }
    CHECK(made == 1);
    CHECK(refused == 3);
    CHECK(blobs.list().size() == 2);
}

TEST_CASE_METHOD(ImageFixture, "the fingerprint of the header must be that of the package") {
    auto uploaded = package();
    const std::string got = uploaded.info.digest, expected(64, 'a');
    CHECK(message_of([&] {
              images().create({"base", {}}, std::move(uploaded), expected, "test");
          }) == "fingerprint don't match, got " + got + " but expected " + expected);
    CHECK_NOTHROW(wait(images().create({"base", {}}, package(), got, "test")));
    CHECK(images().list().size() == 1);
}

TEST_CASE_METHOD(ImageFixture, "gzip, bzip2, xz and zstd packages are taken, other formats are refused") {
    for (const char* format : {"-cz", "-cj", "-cJ"})
        CHECK(wait(images().create({format + 1, {}}, upload(packed({format}, metadata)), "", "test"))
                  ->err.empty());
    const std::string zstd = packed({"--zstd", "-c"}, metadata);
    CHECK(wait(images().create({"zstd", {}}, upload(zstd), "", "test"))->err.empty());
    const std::string text = "image package is not a tarball compressed by gzip, bzip2, xz or zstd";
    CHECK(refusal(packed({"-c"}, metadata)) == text);
    CHECK(refusal("hello") == text);
    CHECK(refusal("") == text);
}

TEST_CASE_METHOD(ImageFixture, "a package without usable metadata is refused at once") {
    CHECK(refusal(packed({"-cz"}, "")) == "metadata.yaml not found");
    CHECK(refusal(packed({"-cz"}, "creation_date: 1\n")) == "architecture is required");
    CHECK_THAT(refusal(packed({"-cz"}, "architecture: [\n")),
               Catch::StartsWith("metadata.yaml is malformed"));
    CHECK(images().list().empty());
    CHECK(blobs.list().empty());
}

TEST_CASE_METHOD(ImageFixture, "a truncated package leaves nothing") {
    const std::string whole = image_package({.padding = 300'000});
    const std::string part = whole.substr(0, whole.size() / 2);
    CHECK(code_of([&] {
              images().create({"base", {}}, upload(part), "", "test");
          }) == ErrorCode::invalid_argument);
    CHECK(images().list().empty());
    CHECK(blobs.list().empty());
    CHECK(simulated.layers().list().empty());
}

TEST_CASE_METHOD(ImageFixture, "the first image is the default, and there is always exactly one") {
    wait(images().create({"a", false}, package({.text = "a"}), "", "test"));
    add_image("b", {.text = "b"});
    CHECK(defaults() == std::vector<std::string>{"a"});
    wait(images().create({"c", true}, package({.text = "c"}), "", "test"));
    CHECK(defaults() == std::vector<std::string>{"c"});
    wait(images().patch("b", {true, false}, "test"));
    CHECK(defaults() == std::vector<std::string>{"b"});
    CHECK(images().default_image()->name == "b");
    CHECK(code_of([&] { images().patch("b", {false, false}, "test"); }) == ErrorCode::invalid_argument);
    CHECK(wait(images().patch("a", {false, false}, "test"))->err.empty());
}

TEST_CASE_METHOD(ImageFixture, "a default that an earlier version has taken, but not set, is set") {
    add_image("a", {.text = "a"});
    add_image("b", {.text = "b"});
    const std::string image = images().get("b")->id.str();
    end_life();
    Operation operation;
    operation.id = OperationId(ids.uuid());
    operation.kind = "image.set_default";
    operation.claims = {"images/" + image};
    operation.arguments = Json::object({{"image", image}, {"version", 0}, {"default", true}});
    sqlite.commit(Batch().put("operations/" + operation.id.str(), operation_to_store(operation).dump()));
    restart();
    CHECK(engine().wait(operation.id.str(), std::nullopt)->status == OperationStatus::success);
    CHECK(defaults() == std::vector<std::string>{"b"});
}

TEST_CASE_METHOD(ImageFixture, "the default image can be deleted only as the last one") {
    add_image("a", {.text = "a"});
    add_image("b", {.text = "b"});
    CHECK(message_of([&] { images().remove("a", true, "test"); }) == "deleting default image not allowed");
    CHECK(wait(images().remove("b", false, "test"))->err.empty());
    CHECK(wait(images().remove("a", false, "test"))->err.empty());
    CHECK(images().list().empty());
    CHECK(blobs.list().empty());
    CHECK(simulated.layers().list().empty());
}

TEST_CASE_METHOD(ImageFixture, "an update makes the next version, the same package none") {
    add_image("base");
    CHECK(message_of([&] { images().update("base", {}, package(), "", "test"); }) == "image not changed");
    const auto started = images().update("base", {}, package({.text = "new"}), "", "test");
    CHECK(started->resources.at("images").at(0) == "/1.0/images/base");
    wait(started);
    CHECK(images().get("base")->newest_active()->version == 1);
    CHECK(code_of([&] { images().update("none", {}, package(), "", "test"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(ImageFixture, "a deleted version goes with its package, its number is not used again") {
    add_image("base");
    wait(images().update("base", {}, package({.text = "1"}), "", "test"));
    const std::string going = fingerprint("base");
    CHECK(code_of([&] { images().remove_version("base", 7, "test"); }) == ErrorCode::not_found);
    CHECK(wait(images().remove_version("base", 1, "test"))->err.empty());
    CHECK(is_gone(going));
    CHECK(code_of([&] { images().remove_version("base", 0, "test"); }) == ErrorCode::invalid_argument);
    wait(images().update("base", {}, package({.text = "2"}), "", "test"));
    CHECK(images().get("base")->versions.back().version == 2);
}

TEST_CASE_METHOD(ImageFixture,
                 "an image whose deletion failed can be deleted, also where that could not be stored") {
    add_image("base");
    wait(images().update("base", {}, package({.text = "1"}), "", "test"));
    store.fail_commit(store.commits() + 2, ErrorCode::internal);
    CHECK(wait(images().remove_version("base", 1, "test"))->status == OperationStatus::failure);
    CHECK(wait(images().remove_version("base", 1, "test"))->err.empty());
    store.fail_commit(store.commits() + 2, ErrorCode::internal);
    CHECK(wait(images().remove("base", false, "test"))->status == OperationStatus::failure);
    CHECK_FALSE(images().get("base")->deleting);
    life->images.update(images().get("base")->id.str(), [](Image& marked) { marked.deleting = true; });
    CHECK(wait(images().remove("base", false, "test"))->err.empty());
    CHECK(images().list().empty());
}

TEST_CASE_METHOD(ImageFixture, "a package that two images share goes with the second") {
    add_image("a");
    add_image("b");
    const std::string shared = fingerprint("a");
    REQUIRE(fingerprint("b") == shared);
    wait(images().remove("b", false, "test"));
    CHECK(is_kept(shared));
    wait(images().remove("a", false, "test"));
    CHECK(is_gone(shared));
}

TEST_CASE_METHOD(ImageFixture, "a cancelled upload leaves nothing") {
    Gate gate;
    layers.before_add([&] { gate.pass(); });
    const auto started = images().create({"base", {}}, package(), "", "test");
    gate.await();
    engine().cancel(started->id.str());
    gate.open();
    CHECK(wait(started)->status == OperationStatus::cancelled);
    CHECK(images().list().empty());
    CHECK(blobs.list().empty());
    CHECK(simulated.layers().list().empty());
}

TEST_CASE_METHOD(ImageFixture, "a version that cannot be unpacked goes, the others stay") {
    add_image("base");
    layers.before_add([] { throw Error(ErrorCode::exhausted, "disk is full"); });
    const auto done = wait(images().update("base", {}, package({.text = "new"}), "", "test"));
    CHECK(done->status == OperationStatus::failure);
    CHECK(done->err == "disk is full");
    CHECK(images().get("base")->versions.size() == 1);
    CHECK(images().get("base")->status() == ImageStatus::active);
    CHECK(blobs.list().size() == 1);
}

TEST_CASE_METHOD(ImageFixture, "a deletion cancels the upload that is going on") {
    Gate gate;
    layers.before_add([&] { gate.pass(); });
    const auto started = images().create({"base", {}}, package(), "", "test");
    gate.await();
    const auto deletion = images().remove("base", false, "test");
    CHECK(message_of([&] { images().remove("base", false, "test"); }) == "deletion already in progress");
    gate.open();
    CHECK(wait(started)->status == OperationStatus::cancelled);
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(images().list().empty());
    CHECK(blobs.list().empty());
}

TEST_CASE_METHOD(ImageFixture, "an interrupted upload is finished by the next life of the daemon") {
    auto uploaded = package();
    const std::string digest = uploaded.info.digest;
    uploaded.blob->commit();
    Image image;
    image.id = ImageId(ids.object_id());
    image.name = "base";
    image.next_version = 1;
    ImageVersion version;
    version.fingerprint = digest;
    image.versions.push_back(version);
    Operation operation;
    operation.id = OperationId(ids.uuid());
    operation.kind = "image.add";
    operation.claims = {"images/" + image.id.str()};
    operation.arguments = Json::object({{"image", image.id.str()}, {"version", 0}, {"default", false}});
    end_life();
    sqlite.commit(Batch()
                      .put("images/" + image.id.str(), image_to_store(image).dump())
                      .put("names/images/base", image.id.str())
                      .put("operations/" + operation.id.str(), operation_to_store(operation).dump()));
    restart();
    CHECK(engine().wait(operation.id.str(), std::nullopt)->status == OperationStatus::success);
    CHECK(images().get("base")->status() == ImageStatus::active);
    CHECK(images().get("base")->is_default);
}

TEST_CASE_METHOD(ImageFixture, "an upload whose record cannot be stored leaves nothing") {
    auto uploaded = package();
    store.fail_next(ErrorCode::exhausted);
    CHECK(code_of([&] {
              images().create({"base", {}}, std::move(uploaded), "", "test");
          }) == ErrorCode::exhausted);
    CHECK(blobs.list().empty());
    CHECK(images().list().empty());
}

TEST_CASE_METHOD(ImageFixture, "packages and layers without a record are swept") {
    add_image("base");
    auto stray = package({.text = "stray"});
    stray.blob->commit();
    simulated.layers().add("stray", blobs.path(stray.info.digest), {});
    life->content.collect_garbage();
    CHECK(is_kept(fingerprint("base")));
    CHECK(blobs.list().size() == 1);
    CHECK(simulated.layers().list().size() == 1);
}

TEST_CASE_METHOD(ImageFixture, "the entity tag follows name, default and versions") {
    const auto before = images().etag(*add_image("base"));
    CHECK(images().etag(*images().get("base")) == before);
    wait(images().update("base", {}, package({.text = "new"}), "", "test"));
    CHECK(images().etag(*images().get("base")) != before);
}

TEST_CASE_METHOD(ImageFixture,
                 "an image shows the applications that are made from it, and stays while there are some") {
    const std::string id = add_image("base")->id.str();
    CHECK(images().describe(*images().get("base")).at("used_by").is_null());
    const auto application = add_application("candy", [&](Application& a) { a.parent_image_id = id; });
    CHECK(images().describe(*images().get("base")).at("used_by").dump() ==
          "[\"" + application.id.str() + "\"]");
    CHECK(code_of([&] { images().remove("base", false, "test"); }) == ErrorCode::busy);
    CHECK(message_of([&] { images().remove("base", false, "test"); }) == "image is in use");
    CHECK(wait(images().remove("base", true, "test"))->err.empty());
}

TEST_CASE_METHOD(ImageFixture, "a new version is told of once it is active") {
    std::vector<std::string> told;
    images().on_new_version([&](const std::string& id) { told.push_back(id); });
    const std::string id = add_image("base")->id.str();
    wait(images().update("base", {}, package({.text = "new"}), "", "test"));
    layers.before_add([] { throw Error(ErrorCode::exhausted, "disk is full"); });
    wait(images().update("base", {}, package({.text = "newer"}), "", "test"));
    CHECK(told == std::vector<std::string>{id, id});
}

TEST_CASE_METHOD(ImageFixture, "an image from a server is immutable and gets each version once") {
    CHECK(wait(images().import({"remote", "1", false}, package({.text = "1"})))->err.empty());
    CHECK(images().get("remote")->immutable);
    CHECK(images().get("remote")->versions[0].remote_id == "1");
    CHECK(images().import({"remote", "1", false}, package({.text = "other"})) == nullptr);
    CHECK(images().import({"remote", "2", false}, package({.text = "1"})) == nullptr);
    CHECK(wait(images().import({"remote", "2", false}, package({.text = "2"})))->err.empty());
    CHECK(images().get("remote")->newest_active()->remote_id == "2");
    CHECK(blobs.list().size() == 2);
    CHECK(code_of([&] { images().check_update("remote"); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { images().remove("remote", false, "test"); }) == ErrorCode::forbidden);
    add_image("own", {.text = "own"});
    CHECK(message_of([&] {
              images().import({"own", "1", false}, package({.text = "3"}));
          }) == "image already exists");
    CHECK(blobs.list().size() == 3);
}

TEST_CASE_METHOD(ImageFixture, "only an image from a server can be synchronised") {
    images().on_sync_request(nullptr);
    add_image("own");
    wait(images().import({"remote", "1", false}, package({.text = "1"})));
    ImagePatch sync;
    sync.force_sync = true;
    CHECK(message_of([&] { images().patch("remote", sync, "test"); }) == "force_sync not supported");
    std::vector<std::string> asked;
    images().on_sync_request([&](const std::string& id) { asked.push_back(id); });
    CHECK(code_of([&] { images().patch("own", sync, "test"); }) == ErrorCode::unsupported);
    CHECK(wait(images().patch("remote", sync, "test"))->err.empty());
    CHECK(asked == std::vector<std::string>{images().get("remote")->id.str()});
}

TEST_CASE_METHOD(ImageFixture, "an image that is being deleted is not the default any more") {
    const auto image = add_image("a", {.text = "a"});
    life->images.update(image->id.str(), [](Image& changed) { changed.deleting = true; });
    CHECK(images().default_image() == nullptr);
    add_image("b", {.text = "b"});
    CHECK(images().default_image()->name == "b");
    CHECK(wait(images().remove("b", false, "test"))->err.empty());
}

// Of `rivals` that all have seen the same record.
TEST_CASE_METHOD(ImageFixture, "of those who change an image with one entity tag exactly one is first") {
    add_image("first");
    const std::string other = add_image("other")->id.str();
    std::vector<UploadedPackage> packages;
    for (int i = 0; i < 8; ++i) packages.push_back(package({.text = std::to_string(i)}));
    const std::string seen = images().etag(*images().get(other));
    const auto unchanged = [&](std::string_view etag) {
        if (etag != seen) throw Error(ErrorCode::precondition_failed, "changed");
    };
    SECTION("the default") {
        CHECK(count_passing(
                  8, [&](int) { images().patch(other, {.is_default = true}, "test", unchanged); }) == 1);
    }
    SECTION("a version") {
        CHECK(count_passing(8, [&](int i) {
                  images().update(other, {}, std::move(packages.at(i)), "", "test", unchanged);
              }) == 1);
        CHECK(images().get(other)->versions.size() == 2);
    }
}

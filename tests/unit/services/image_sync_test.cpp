#include "libsvc/services/images/image_sync.h"

#include <future>
#include <thread>

#include "libsvc/base/digest.h"
#include "libsvc/services/images/offered_images.h"
#include "tests/unit/services/package_fixture.h"

using namespace svc;
using namespace svc::test;
namespace fs = std::filesystem;

namespace {

// A directory that is an image server, and a service that follows it.
struct SyncFixture : PackageFixture {
    fs::path server = directory.path() / "server";
    ImageSync* sync = &life->image_sync;
    Json products = Json::object();

    SyncFixture() { configure("images.url", "file://" + server.string()); }

    // One more version of a product; `fingerprint` "" is the right one.
    void offer(const std::string& name, const std::string& version, const PackageContent& content,
               const std::string& release = "", const std::string& arch = "amd64",
               const std::string& fingerprint = "") {
        const std::string bytes = image_package(content);
        const std::string path = "images/" + name + "-" + version + ".tar.gz";
        fs::create_directories(server / "images");
        write_file_atomically(server / path, bytes);
        const Json item = Json::object({{"ftype", "svc.tar.gz"},
                                        {"path", path},
                                        {"sha256", fingerprint.empty() ? sha256_hex(bytes) : fingerprint},
                                        {"size", bytes.size()}});
        Json product = products.find(name) == nullptr ? Json::object({{"versions", Json::object()}})
                                                      : *products.find(name);
        product.set("arch", arch);
        product.set("release_version", release);
        Json versions = product.at("versions");
        versions.set(version, Json::object({{"items", Json::object({{"a", item}})}}));
        product.set("versions", versions);
        products.set(name, product);
        publish();
    }
    void publish() {
        fs::create_directories(server / "streams/v1");
        write_file_atomically(
            server / "streams/v1/index.json",
            R"({"index": {"images": {"datatype": "image-downloads", "path": "streams/v1/images.json"}}})");
        write_file_atomically(server / "streams/v1/images.json",
                              Json::object({{"format", "products:1.0"}, {"products", products}}).dump());
    }
    void synchronise() {
        sync->synchronise();
        settle();
    }
    void settle() {
        for (const auto& operation : engine().list()) engine().wait(operation->id.str(), std::nullopt);
    }
    std::vector<std::string> remote_ids(const std::string& name) {
        std::vector<std::string> ids;
        const auto image = life->images.find(name);
        if (image == nullptr) return ids;
        for (const auto& version : image->versions) ids.push_back(version.remote_id);
        return ids;
    }
    std::size_t operations() { return engine().list().size(); }
};

OfferedImage offered(const std::string& name, const std::string& version, const std::string& release = "",
                     const std::string& architecture = "x86_64") {
    OfferedImage image;
    image.name = name;
    image.aliases = {name, name + ":alias"};
    image.version = version;
    image.release = release;
    image.architecture = architecture;
    return image;
}

}  // namespace

TEST_CASE_METHOD(SyncFixture, "images of the server come here, immutable, once") {
    offer("jammy:amd64", "20240101", {.text = "one"});
    synchronise();
    const auto image = images().get("jammy:amd64");
    CHECK(image->immutable);
    CHECK(image->status() == ImageStatus::active);
    CHECK(remote_ids("jammy:amd64") == std::vector<std::string>{"20240101"});
    CHECK(image->versions[0].fingerprint == sha256_hex(image_package({.text = "one"})));
    const std::size_t before = operations();
    synchronise();
    CHECK(operations() == before);  // nothing to do: no operation
}

TEST_CASE_METHOD(SyncFixture, "of a new image only the newest version comes; later ones follow") {
    offer("jammy", "9", {.text = "one"});
    offer("jammy", "10", {.text = "two"});
    synchronise();
    CHECK(remote_ids("jammy") == std::vector<std::string>{"10"});
    offer("jammy", "11", {.text = "three"});
    synchronise();
    CHECK(remote_ids("jammy") == std::vector<std::string>{"10", "11"});
    CHECK(images().get("jammy")->versions[1].version == 1);
}

TEST_CASE_METHOD(SyncFixture, "a package that is not what the index says never becomes visible") {
    offer("jammy", "1", {.text = "one"}, "", "amd64", sha256_hex("another"));
    offer("good", "1", {.text = "two"});
    const std::size_t before = blobs.list().size();
    synchronise();
    CHECK(life->images.find("jammy") == nullptr);
    CHECK(images().get("good")->status() == ImageStatus::active);
    CHECK(blobs.list().size() <= before + 1);
    CHECK_FALSE(blobs.contains(sha256_hex(image_package({.text = "one"}))));
}

TEST_CASE_METHOD(SyncFixture, "a package without use is not fetched at each poll") {
    offer("jammy", "1", {.architecture = ""});
    synchronise();
    const std::size_t before = operations();
    synchronise();
    CHECK(operations() == before);
    CHECK(life->images.find("jammy") == nullptr);
}

TEST_CASE_METHOD(SyncFixture, "images of other architectures and other minor releases stay away") {
    offer("arm", "1", {.text = "a"}, "", "arm64");
    offer("old", "1", {.text = "b"}, "999.7.0");
    offer("any", "1", {.text = "c"});
    synchronise();
    CHECK(life->images.find("arm") == nullptr);
    CHECK(life->images.find("old") == nullptr);
    CHECK(life->images.find("any") != nullptr);
    configure("images.version_lockstep", "false");
    synchronise();
    CHECK(life->images.find("old") != nullptr);
    CHECK(life->images.find("arm") == nullptr);
}

TEST_CASE_METHOD(SyncFixture, "an image of that name that was uploaded by hand is left alone") {
    const auto own = add_image("jammy");
    offer("jammy", "1", {.text = "other"});
    synchronise();
    CHECK(images().get("jammy")->versions.size() == 1);
    CHECK_FALSE(images().get("jammy")->immutable);
}

TEST_CASE_METHOD(SyncFixture, "without an address nothing happens; a server that is away is told") {
    fs::remove_all(server);
    CHECK(code_of([&] { sync->synchronise(); }) == ErrorCode::unavailable);
    configure("images.url", "");
    sync->synchronise();
    CHECK(message_of([&] { sync->import("x", "y", false, ""); }) == "image server not configured");
}

TEST_CASE_METHOD(SyncFixture, "one image is imported under a name of its own") {
    offer("jammy", "1", {.text = "one"});
    offer("jammy", "2", {.text = "two"});
    const auto done = wait(sync->import("mine", "jammy@1", true, "uid=0"));
    CHECK(done->err == "");
    CHECK(done->description == "Adding image");
    CHECK(done->requestor == "uid=0");
    CHECK(done->resources.at("images").at(0) == "/1.0/images/mine");
    CHECK(remote_ids("mine") == std::vector<std::string>{"1"});
    CHECK(images().get("mine")->is_default);
    CHECK(wait(sync->import("latest", "jammy", false, ""))->err == "");
    CHECK(remote_ids("latest") == std::vector<std::string>{"2"});
}

TEST_CASE_METHOD(SyncFixture, "imports of what is not there, or under a taken name, are refused at once") {
    offer("jammy", "1", {.text = "one"});
    add_image("taken");
    const auto code = [&](const char* name, const char* remote) {
        return code_of([&] { sync->import(name, remote, false, ""); });
    };
    CHECK(code("x", "absent") == ErrorCode::not_found);
    CHECK(code("x", "jammy@7") == ErrorCode::not_found);
    CHECK(code("taken", "jammy") == ErrorCode::conflict);
    CHECK(code("a/b", "jammy") == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(SyncFixture, "a cancelled synchronisation leaves nothing") {
    offer("jammy", "1", {.text = "one"});
    std::promise<void> reached, go_on;
    layers.before_add([&] {
        reached.set_value();
        go_on.get_future().wait();
    });
    const auto started = sync->import("jammy", "jammy", false, "");
    reached.get_future().wait();
    engine().cancel(started->id.str());
    CHECK(wait(started)->status == OperationStatus::cancelled);
    go_on.set_value();
    settle();
    CHECK(life->images.find("jammy") == nullptr);
}

TEST_CASE("the newest usable version of each image is chosen") {
    const std::vector<OfferedImage> all{offered("a", "1", "1.22.0"), offered("a", "2", "1.22.5"),
                                        offered("a", "3", "1.23.0"), offered("b", "1"),
                                        offered("c", "1", "1.22.0", "aarch64")};
    const auto versions = [&](const std::string& lockstep) {
        std::vector<std::string> found;
        for (const auto& image : newest_images(all, {"x86_64", lockstep}))
            found.push_back(image.name + image.version);
        return found;
    };
    CHECK(versions("1.22.9") == std::vector<std::string>{"a2", "b1"});
    CHECK(versions("") == std::vector<std::string>{"a3", "b1"});
    CHECK(versions("2.0.0") == std::vector<std::string>{"b1"});
}

TEST_CASE("images are found by name, alias and version") {
    const std::vector<OfferedImage> all{offered("a", "1"), offered("a", "2"),
                                        offered("a", "3", "", "aarch64")};
    CHECK(find_offered(all, "a", "x86_64")->version == "2");
    CHECK(find_offered(all, "a:alias@1", "x86_64")->version == "1");
    CHECK_FALSE(find_offered(all, "a@3", "x86_64"));
    CHECK_FALSE(find_offered(all, "a@", "x86_64"));
    CHECK_FALSE(find_offered(all, "", "x86_64"));
}

TEST_CASE("patch releases are of one minor release") {
    CHECK(same_minor_release("1.22.0", "1.22.7"));
    CHECK(same_minor_release("1.22", "1.22.7"));
    CHECK_FALSE(same_minor_release("1.22.0", "1.23.0"));
    CHECK_FALSE(same_minor_release("1", "1.22"));
    CHECK_FALSE(same_minor_release("", ""));
}

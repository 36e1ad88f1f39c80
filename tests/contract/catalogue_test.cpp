// What every Catalogue keeps to. A new implementation is one more row of `catalogues`.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/remote/catalogue.h"
#include "tests/support/error_code.h"

namespace svc {
namespace {

using test::code_of;

// tests/support/registry_server.py on a port of its own. Ends with its input, which ends with the object.
class RegistryProcess {
  public:
    explicit RegistryProcess(const std::filesystem::path& folder) {
        int input[2], output[2];
        REQUIRE(pipe2(input, O_CLOEXEC) == 0);
        REQUIRE(pipe2(output, O_CLOEXEC) == 0);
        input_ = FileDescriptor(input[1]);
        const FileDescriptor theirs(input[0]), ours(output[0]), written(output[1]);
        SpawnOptions options;
        options.arguments = {"/usr/bin/env",
                             "python3",
                             SVC_TESTS_DIR "/support/registry_server.py",
                             folder / "registry",
                             "--keys",
                             folder,
                             "--trust",
                             folder / "client.crt"};
        options.environment = {std::string("PATH=") + std::getenv("PATH")};
        options.descriptors = {{theirs.get(), 0}, {written.get(), 1}, {2, 2}};
        child_.emplace(options);
        std::string line;
        for (char c = 0; read(ours.get(), &c, 1) == 1 && c != '\n';) {
            line += c;
        }
        const auto words = split(line, ' ');
        REQUIRE(words.size() == 3);
        port_ = words[1];
        fingerprint_ = words[2];
    }
    ~RegistryProcess() {
        input_.reset();
        child_->wait();
    }
    std::string url() const { return "https://127.0.0.1:" + port_; }
    const std::string& fingerprint() const { return fingerprint_; }

  private:
    FileDescriptor input_;
    std::optional<Child> child_;
    std::string port_, fingerprint_;
};

struct Fixture {
    explicit Fixture(const std::string& kind) : directory(std::filesystem::temp_directory_path()) {
        options.certificate = directory.path() / "client.crt";
        options.key = directory.path() / "client.key";
        options.url = "file://" + (directory.path() / "registry").string();
        std::filesystem::create_directory(directory.path() / "registry");
        if (kind == "https") {
            server = std::make_unique<RegistryProcess>(directory.path());
            options.url = server->url();
            options.fingerprint = server->fingerprint();
        }
        catalogue = open_catalogue(options);
    }
    TemporaryDirectory directory;
    CatalogueOptions options;
    std::unique_ptr<RegistryProcess> server;
    std::unique_ptr<Catalogue> catalogue;
};

CatalogueApplication described(const std::string& name, int version) {
    CatalogueApplication application;
    application.name = name;
    application.architectures = {"x86_64"};
    application.boot_package = "com.example.candy";
    application.instance_type = "a2.3";
    application.tags = {"game", "sweet"};
    application.versions.push_back(
        {version, Json::object({{"video_encoder", "gpu"}, {"boot_activity", ""}})});
    return application;
}

struct Sent {
    std::string content, manifest = "name: candy\n";
    CatalogueUpload upload;
    Sent(const std::string& name, int version, std::string bytes) : content(std::move(bytes)) {
        upload.application = described(name, version);
        upload.version = version;
        upload.architecture = "x86_64";
        upload.fingerprint = sha256_hex(content);
        upload.size = content.size();
        upload.manifest = manifest;
        upload.read = [this, at = std::size_t{0}](std::size_t at_most) mutable {
            const std::string piece = content.substr(at, at_most);
            at += piece.size();
            return piece;
        };
    }
    Sent(const Sent&) = delete;
};

void send(Catalogue& catalogue, const std::string& name, int version, const std::string& bytes) {
    const Sent sent(name, version, bytes);
    catalogue.upload(sent.upload);
}

std::string fetch(Catalogue& catalogue, const std::string& name, int version,
                  CatalogueDownload* said = nullptr) {
    std::string bytes;
    const auto download =
        catalogue.download(name, version, "x86_64", [&](std::string_view piece) { bytes.append(piece); });
    if (said != nullptr) *said = download;
    return bytes;
}

#define EVERY_CATALOGUE(catalogue)                                              \
    const std::string kind = GENERATE(as<std::string>{}, "directory", "https"); \
    INFO(kind);                                                                 \
    Fixture fixture(kind);                                                      \
    Catalogue& catalogue = *fixture.catalogue

TEST_CASE("what was sent is listed and comes back") {
    EVERY_CATALOGUE(catalogue);
    CHECK(catalogue.list().empty());
    CHECK_FALSE(catalogue.has("candy", 3, "x86_64"));
    const std::string bytes(3'000'000, 'x');
    send(catalogue, "candy", 3, bytes);
    CHECK(catalogue.has("candy", 3, "x86_64"));
    CHECK_FALSE(catalogue.has("candy", 3, "aarch64"));
    CHECK_FALSE(catalogue.has("candy", 4, "x86_64"));
    CatalogueDownload said;
    CHECK(fetch(catalogue, "candy", 3, &said) == bytes);
    CHECK(said.fingerprint == sha256_hex(bytes));
    CHECK(said.manifest == "name: candy\n");
    const auto list = catalogue.list();
    REQUIRE(list.size() == 1);
    CHECK(list[0].to_json() == described("candy", 3).to_json());
}

TEST_CASE("versions of one application are listed together, in order of their numbers") {
    EVERY_CATALOGUE(catalogue);
    for (const int version : {10, 2, 0}) send(catalogue, "candy", version, std::to_string(version));
    send(catalogue, "other", 1, "x");
    const auto list = catalogue.list();
    REQUIRE(list.size() == 2);
    std::vector<int> numbers;
    for (const auto& version : list[0].versions) numbers.push_back(version.number);
    CHECK(numbers == std::vector<int>{0, 2, 10});
    CHECK(list[1].name == "other");
}

TEST_CASE("sending the same version again succeeds, another one of that number is a conflict") {
    EVERY_CATALOGUE(catalogue);
    send(catalogue, "candy", 0, "one");
    send(catalogue, "candy", 0, "one");
    CHECK(code_of([&] { send(catalogue, "candy", 0, "two"); }) == ErrorCode::conflict);
    CHECK(fetch(catalogue, "candy", 0) == "one");
}

TEST_CASE("bytes that are not what was announced are not kept") {
    EVERY_CATALOGUE(catalogue);
    Sent other("candy", 0, "content");
    other.upload.fingerprint = sha256_hex("something else");
    CHECK(code_of([&] { catalogue.upload(other.upload); }) == ErrorCode::invalid_argument);
    Sent shorter("candy", 0, "content");
    shorter.upload.size = 100;
    CHECK(code_of([&] { catalogue.upload(shorter.upload); }) == ErrorCode::invalid_argument);
    CHECK_FALSE(catalogue.has("candy", 0, "x86_64"));
    CHECK(catalogue.list().empty());
}

TEST_CASE("an upload whose source fails leaves nothing, and says why") {
    EVERY_CATALOGUE(catalogue);
    Sent sent("candy", 0, "content");
    sent.upload.read = [](std::size_t) -> std::string { throw Error(ErrorCode::cancelled, "enough"); };
    CHECK(code_of([&] { catalogue.upload(sent.upload); }) == ErrorCode::cancelled);
    CHECK_FALSE(catalogue.has("candy", 0, "x86_64"));
}

TEST_CASE("a sink that refuses ends the download") {
    EVERY_CATALOGUE(catalogue);
    send(catalogue, "candy", 0, "content");
    const auto refuse = [](std::string_view) { throw Error(ErrorCode::exhausted, "too much"); };
    CHECK(code_of([&] { catalogue.download("candy", 0, "x86_64", refuse); }) == ErrorCode::exhausted);
}

TEST_CASE("what is not there is not found") {
    EVERY_CATALOGUE(catalogue);
    CHECK(code_of([&] { fetch(catalogue, "candy", 0); }) == ErrorCode::not_found);
    CHECK(code_of([&] { catalogue.remove("candy"); }) == ErrorCode::not_found);
}

TEST_CASE("a removed application is gone with all its versions and may come again") {
    EVERY_CATALOGUE(catalogue);
    send(catalogue, "candy", 0, "one");
    send(catalogue, "candy", 1, "two");
    catalogue.remove("candy");
    CHECK(catalogue.list().empty());
    CHECK_FALSE(catalogue.has("candy", 1, "x86_64"));
    send(catalogue, "candy", 0, "another");
    CHECK(fetch(catalogue, "candy", 0) == "another");
}

TEST_CASE("names that would lead elsewhere are refused") {
    EVERY_CATALOGUE(catalogue);
    for (const char* name :
         {"../x", "a/b", "", ".", "..", ".hidden", "a b", "a%2fb", "0123456789abcdefghij"}) {
        INFO(name);
        CHECK(code_of([&] { catalogue.has(name, 0, "x86_64"); }) == ErrorCode::invalid_argument);
        CHECK(code_of([&] { fetch(catalogue, name, 0); }) == ErrorCode::invalid_argument);
        CHECK(code_of([&] { catalogue.remove(name); }) == ErrorCode::invalid_argument);
        CHECK(code_of([&] { send(catalogue, name, 0, "x"); }) == ErrorCode::invalid_argument);
    }
    CHECK(code_of([&] { catalogue.has("candy", 0, "../x"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { catalogue.has("candy", -1, "x86_64"); }) == ErrorCode::invalid_argument);
}

TEST_CASE("two senders of one version at a time both succeed, and one copy is kept") {
    EVERY_CATALOGUE(catalogue);
    std::vector<std::jthread> senders;
    std::atomic<int> failed{0};
    for (int i = 0; i < 4; ++i)
        senders.emplace_back([&] {
            try {
                const auto own = open_catalogue(fixture.options);
                send(*own, "candy", 0, std::string(100'000, 'a'));
            } catch (const Error& e) {
                ++failed;
            }
        });
    senders.clear();
    CHECK(failed ==
          (kind == "directory" ? 0 : failed.load()));  // the test's server keeps one manifest a version
    CHECK(fetch(catalogue, "candy", 0) == std::string(100'000, 'a'));
}

}  // namespace
}  // namespace svc

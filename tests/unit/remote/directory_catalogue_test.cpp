#include "libsvc/remote/directory_catalogue.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/error_code.h"
#include "tests/support/small_disk.h"

using namespace svc;
using svc::test::code_of;
namespace fs = std::filesystem;

namespace {

struct DirectoryFixture {
    TemporaryDirectory directory{fs::temp_directory_path()};
    fs::path root = directory.path() / "registry";
    DirectoryCatalogue catalogue{root};

    DirectoryFixture() { fs::create_directory(root); }

    void send(const std::string& name, int version, const std::string& content) {
        send_to(catalogue, name, version, content);
    }
    static void send_to(DirectoryCatalogue& catalogue, const std::string& name, int version,
                        const std::string& content) {
        CatalogueUpload upload;
        upload.application.name = name;
        upload.application.versions.push_back({version, Json::object()});
        upload.version = version;
        upload.architecture = "x86_64";
        upload.fingerprint = sha256_hex(content);
        upload.size = content.size();
        upload.read = [rest = content](std::size_t) mutable { return std::exchange(rest, std::string()); };
        catalogue.upload(upload);
    }
    std::optional<ErrorCode> fetched(const std::string& name) {
        return code_of([&] { catalogue.download(name, 0, "x86_64", [](std::string_view) {}); });
    }
    std::vector<std::string> listed() {
        std::vector<std::string> names;
        for (const auto& application : catalogue.list()) names.push_back(application.name);
        return names;
    }
};

}  // namespace

TEST_CASE_METHOD(DirectoryFixture, "a version lies in the layout that others read, readable for them") {
    send("candy", 3, "content");
    const auto folder = root / "candy/3/x86_64";
    CHECK(read_file(folder / "archive.tar.gz") == "content");
    CHECK(fs::exists(folder / "manifest.yaml"));
    CHECK(Json::parse(read_file(folder / "details.json")).at("fingerprint").as_string() ==
          sha256_hex("content"));
    CHECK((fs::status(folder).permissions() & fs::perms::others_exec) != fs::perms::none);
    CHECK(std::distance(fs::directory_iterator(root), {}) == 1);  // nothing unfinished is left
}

TEST_CASE_METHOD(DirectoryFixture, "symbolic links out of the directory are not followed") {
    send("candy", 0, "content");
    const auto outside = directory.path() / "outside";
    fs::rename(root / "candy", outside);
    fs::create_directory_symlink(outside, root / "candy");
    CHECK(listed().empty());
    CHECK(fetched("candy") == ErrorCode::not_found);
    CHECK(code_of([&] { send("candy", 1, "more"); }) == ErrorCode::conflict);
    CHECK_FALSE(fs::exists(outside / "1"));
    CHECK(code_of([&] { catalogue.remove("candy"); }) == ErrorCode::not_found);
    CHECK(fs::exists(outside / "0/x86_64/archive.tar.gz"));

    fs::remove(root / "candy");
    send("candy", 0, "content");
    write_file_atomically(directory.path() / "secret", "secret");
    fs::remove(root / "candy/0/x86_64/archive.tar.gz");
    fs::create_symlink(directory.path() / "secret", root / "candy/0/x86_64/archive.tar.gz");
    CHECK(fetched("candy") == ErrorCode::not_found);
}

TEST_CASE_METHOD(DirectoryFixture, "a pipe in the place of a file does not block") {
    send("candy", 0, "content");
    fs::remove(root / "candy/0/x86_64/archive.tar.gz");
    REQUIRE(mkfifo((root / "candy/0/x86_64/archive.tar.gz").c_str(), 0600) == 0);
    CHECK_FALSE(catalogue.has("candy", 0, "x86_64"));
    CHECK(fetched("candy") == ErrorCode::not_found);
}

TEST_CASE_METHOD(DirectoryFixture, "damaged and foreign entries are left out, the others are listed") {
    send("candy", 0, "content");
    send("damaged", 0, "content");
    write_file_atomically(root / "damaged/0/x86_64/details.json", "{\"name\": \"dam");
    send("renamed", 0, "content");
    fs::rename(root / "renamed", root / "other");
    fs::create_directories(root / "empty");
    fs::create_directories(root / "candy/notes/x86_64");
    fs::create_directories(root / "candy/01/x86_64");
    fs::create_directories(root / "bad name/0/x86_64");
    write_file_atomically(root / "file", "x");
    CHECK(listed() == std::vector<std::string>{"candy"});
    CHECK(catalogue.list()[0].versions.size() == 1);
}

TEST_CASE_METHOD(DirectoryFixture, "an archive that was changed afterwards is refused") {
    send("candy", 0, "content");
    write_file_atomically(root / "candy/0/x86_64/archive.tar.gz", "Content");
    CHECK(fetched("candy") == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(DirectoryFixture,
                 "what a service that died left unfinished is not seen, and goes after a day") {
    const auto old = root / ".unfinished-old", young = root / ".unfinished-young";
    fs::create_directory(old);
    fs::create_directory(young);
    write_file_atomically(old / "archive.tar.gz", "x");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(25));
    CHECK(listed().empty());
    send("candy", 0, "content");
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(young));
}

TEST_CASE("an upload leaves room on the disk of the registry, and nothing else") {
    test::on_small_disk(std::uint64_t{72} << 20, [](const fs::path& disk) {
        DirectoryCatalogue catalogue{disk};
        const std::string content(12U << 20, 'x');
        CHECK(code_of([&] { DirectoryFixture::send_to(catalogue, "candy", 0, content); }) ==
              ErrorCode::exhausted);
        CHECK(fs::is_empty(disk));
        CHECK_NOTHROW(DirectoryFixture::send_to(catalogue, "candy", 0, content.substr(0, 4U << 20)));
    });
}

TEST_CASE("a directory that is not there cannot be listed, but is made by the first upload") {
    DirectoryFixture fixture;
    fs::remove(fixture.root);
    CHECK(code_of([&] { fixture.catalogue.list(); }) == ErrorCode::unavailable);
    CHECK_FALSE(fixture.catalogue.has("candy", 0, "x86_64"));
    fixture.send("candy", 0, "content");
    CHECK(fixture.listed() == std::vector<std::string>{"candy"});
}

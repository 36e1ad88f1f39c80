#include "libsvc/remote/image_server.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "tests/support/error_code.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* content = "the bytes of a package";

std::string index_text() {
    return R"({"index": {"images": {"datatype": "image-downloads", "path": "streams/v1/images.json"}}})";
}

std::string products_text() {
    const Json item = Json::object({{"ftype", "svc.tar.gz"},
                                    {"path", "images/my image.tar.gz"},
                                    {"sha256", sha256_hex(content)},
                                    {"size", std::string_view(content).size()}});
    const Json version = Json::object({{"items", Json::object({{"a", item}})}});
    const Json product = Json::object({{"arch", "amd64"}, {"versions", Json::object({{"7", version}})}});
    return Json::object({{"format", "products:1.0"}, {"products", Json::object({{"jammy", product}})}})
        .dump();
}

struct DirectoryServer {
    TemporaryDirectory directory{fs::temp_directory_path()};
    fs::path root = directory.path() / "server";

    DirectoryServer() {
        write("streams/v1/index.json", index_text());
        write("streams/v1/images.json", products_text());
        write("images/my image.tar.gz", content);
    }
    void write(const fs::path& path, const std::string& text) const {
        fs::create_directories((root / path).parent_path());
        write_file_atomically(root / path, text);
    }
    std::unique_ptr<ImageServer> open() const {
        ImageServerOptions options;
        options.url = "file://" + root.string();
        return open_image_server(options);
    }
};

std::string fetch(ImageServer& server, const OfferedImage& image) {
    std::string bytes;
    server.download(image, [&](std::string_view piece) { bytes.append(piece); });
    return bytes;
}

std::optional<ErrorCode> refusal(const std::string& url) {
    ImageServerOptions options;
    options.url = url;
    return code_of([&] { open_image_server(options); });
}

struct HttpServerFixture {
    TestServer server;
    std::string authorization;

    HttpServerFixture() {
        server.with_tcp = server.with_tls = true;
        answer("/base/streams/v1/index.json", index_text());
        answer("/base/streams/v1/images.json", products_text());
        answer("/base/images/my image.tar.gz", content);
        server.start();
    }
    void answer(const std::string& path, const std::string& text) {
        server.service.add(path, [this, text](Request& request) {
            authorization = request.headers.get("Authorization");
            return text_response(text);
        });
    }
    std::unique_ptr<ImageServer> open(const Target& target, bool insecure, const std::string& auth = "") {
        ImageServerOptions options;
        options.url = target.describe() + "/base";
        options.allow_insecure = insecure;
        options.auth = auth;
        return open_image_server(options);
    }
};

}  // namespace

TEST_CASE("a directory is an image server") {
    const DirectoryServer directory;
    const auto server = directory.open();
    const auto images = server->list();
    REQUIRE(images.size() == 1);
    CHECK(images[0].name == "jammy");
    CHECK(fetch(*server, images[0]) == content);
}

TEST_CASE("a package that is not what the index says is refused") {
    const DirectoryServer directory;
    const auto server = directory.open();
    const auto images = server->list();
    for (const char* changed : {"the bytes of a PACKAGE", "the bytes of a package and more", "the bytes"}) {
        directory.write("images/my image.tar.gz", changed);
        CHECK(code_of([&] { fetch(*server, images[0]); }) == ErrorCode::invalid_argument);
    }
    fs::remove(directory.root / "images/my image.tar.gz");
    CHECK(code_of([&] { fetch(*server, images[0]); }) == ErrorCode::unavailable);
}

TEST_CASE("no more than the announced size is taken") {
    const DirectoryServer directory;
    const auto server = directory.open();
    const auto images = server->list();
    directory.write("images/my image.tar.gz", std::string(10U << 20, 'x'));
    std::size_t taken = 0;
    CHECK(code_of([&] {
              server->download(images[0], [&](std::string_view piece) { taken += piece.size(); });
          }) == ErrorCode::invalid_argument);
    CHECK(taken == 0);
}

TEST_CASE("links out of the server's directory are not followed") {
    const DirectoryServer directory;
    fs::rename(directory.root / "images", directory.directory.path() / "outside");
    fs::create_directory_symlink(directory.directory.path() / "outside", directory.root / "images");
    const auto server = directory.open();
    const auto images = server->list();
    CHECK(code_of([&] { fetch(*server, images[0]); }) == ErrorCode::unavailable);
}

TEST_CASE("an index that is missing, too large or broken is told apart") {
    const DirectoryServer directory;
    directory.write("streams/v1/images.json", "{");
    CHECK(code_of([&] { directory.open()->list(); }) == ErrorCode::invalid_argument);
    directory.write("streams/v1/images.json", std::string((16U << 20) + 1, ' '));
    CHECK(code_of([&] { directory.open()->list(); }) == ErrorCode::invalid_argument);
    fs::remove(directory.root / "streams/v1/images.json");
    CHECK(code_of([&] { directory.open()->list(); }) == ErrorCode::unavailable);
    fs::remove_all(directory.root);
    CHECK(code_of([&] { directory.open()->list(); }) == ErrorCode::unavailable);
}

TEST_CASE("addresses of other kinds, and insecure ones, are refused") {
    for (const char* url :
         {"", "ftp://host/", "http://host/", "file://relative", "https://", "https://host/?a", "host"})
        CHECK(refusal(url) == ErrorCode::invalid_argument);
    CHECK_FALSE(refusal("https://host/some/folder/"));
}

TEST_CASE_METHOD(HttpServerFixture, "plain HTTP works where it is allowed, below a path") {
    const auto images = open(server.tcp_target(), true)->list();
    REQUIRE(images.size() == 1);
    CHECK(fetch(*open(server.tcp_target(), true), images[0]) == content);
    CHECK(authorization.empty());
}

TEST_CASE_METHOD(HttpServerFixture,
                 "a certificate that cannot be verified is taken only where that is allowed") {
    Target target = server.tls_target();
    target.server_fingerprint.clear();
    CHECK(code_of([&] { open(target, false)->list(); }) == ErrorCode::unavailable);
    CHECK(open(target, true)->list().size() == 1);
}

TEST_CASE_METHOD(HttpServerFixture, "user and password, or a token, are presented") {
    open(server.tcp_target(), true, "user:word")->list();
    CHECK(authorization == "Basic " + base64_encode("user:word"));
    open(server.tcp_target(), true, "token")->list();
    CHECK(authorization == "Bearer token");
}

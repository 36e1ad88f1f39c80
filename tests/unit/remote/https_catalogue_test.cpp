// What a registry may do to us over the network. tests/contract/catalogue_test.cpp holds what it should do.
#include "libsvc/remote/https_catalogue.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "tests/support/error_code.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using namespace svc::test;

namespace {

struct HttpsFixture {
    TestServer server;
    std::atomic<bool> asked{false};

    HttpsFixture() { server.with_tls = true; }
    void answer(const std::string& path, std::string body, int status = 200, Headers headers = {}) {
        server.service.add(path, [this, body, status, headers](Request& request) {
            asked = true;
            presented = request.peer->certificate ? request.peer->certificate->fingerprint : "";
            Response response = text_response(body);
            response.status = status;
            for (const auto& [name, value] : headers) response.headers.set(name, value);
            return response;
        });
    }
    CatalogueOptions options() {
        CatalogueOptions options;
        options.url = server.tls_target().describe();
        options.fingerprint = server.tls_target().server_fingerprint;
        options.certificate = server.directory() / "keys/client.crt";
        options.key = server.directory() / "keys/client.key";
        return options;
    }
    std::optional<ErrorCode> listed() {
        return code_of([&] { HttpsCatalogue(options()).list(); });
    }
    std::string words_of_list() {
        return message_of([&] { HttpsCatalogue(options()).list(); });
    }
    std::string presented;
};

constexpr const char* list_path = "/1.0/applications";

}  // namespace

TEST_CASE_METHOD(HttpsFixture, "the client's key pair is made at first use and presented") {
    answer(list_path, R"({"metadata": []})");
    server.start();
    HttpsCatalogue(options()).list();
    CHECK(presented == parse_certificate(read_file(options().certificate)).fingerprint);
    const std::string first = presented;
    HttpsCatalogue(options()).list();
    CHECK(presented == first);
}

TEST_CASE_METHOD(HttpsFixture, "another certificate than the pinned one is refused before anything is sent") {
    answer(list_path, R"({"metadata": []})");
    server.start();
    CatalogueOptions wrong = options();
    wrong.fingerprint = sha256_hex("another");
    const auto words = message_of([&] { HttpsCatalogue(wrong).list(); });
    CHECK(words.starts_with("registry cannot be reached: "));
    CHECK(words.find("certificate") != std::string::npos);
    CHECK_FALSE(asked);
}

TEST_CASE_METHOD(HttpsFixture, "answers that make no sense are refused") {
    const std::string body = GENERATE(as<std::string>{}, "", "nonsense", "[]", "{}", R"({"metadata": 7})",
                                      R"({"metadata": ["/1.0/x"]})", R"({"metadata": [{"name": "../x"}]})",
                                      R"({"metadata": [{"name": "a/b", "versions": {}}]})",
                                      R"({"metadata": [{"name": "a", "versions": {"-1": {}}}]})");
    INFO(body);
    answer(list_path, body);
    server.start();
    CHECK(listed() == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(HttpsFixture, "a list that is too large is refused while it comes") {
    answer(list_path, std::string((16U << 20) + 1, ' '));
    server.start();
    CHECK(listed() == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(HttpsFixture, "the registry's status becomes an error of ours, with its words") {
    const auto [status, code] = GENERATE(table<int, ErrorCode>({{401, ErrorCode::forbidden},
                                                                {403, ErrorCode::forbidden},
                                                                {404, ErrorCode::not_found},
                                                                {409, ErrorCode::conflict},
                                                                {422, ErrorCode::invalid_argument},
                                                                {500, ErrorCode::unavailable}}));
    answer(list_path, R"({"type": "error", "error": "Not Authorized"})", status);
    server.start();
    CHECK(listed() == code);
    CHECK(words_of_list() == "registry answers with status " + std::to_string(status) + ": 'Not Authorized'");
}

TEST_CASE_METHOD(HttpsFixture, "redirects are not followed") {
    Headers headers;
    headers.set("Location", "/elsewhere");
    answer(list_path, "", 302, headers);
    answer("/elsewhere", R"({"metadata": []})");
    server.start();
    CHECK(listed() == ErrorCode::unavailable);
}

TEST_CASE_METHOD(HttpsFixture, "an archive without a fingerprint, or with another one, is refused") {
    const std::string path = "/1.0/applications/candy/0/x86_64";
    answer(path + "/manifest", "name: candy\n");
    Headers headers;
    SECTION("none") {}
    SECTION("another") {
        headers.set("X-SVC-Fingerprint", sha256_hex("other"));
    }
    SECTION("another manifest") {
        headers.set("X-SVC-Fingerprint", sha256_hex("archive"));
        headers.set("X-SVC-ManifestSha256", sha256_hex("other"));
    }
    answer(path, "archive", 200, headers);
    server.start();
    HttpsCatalogue catalogue(options());
    CHECK(code_of([&] { catalogue.download("candy", 0, "x86_64", [](std::string_view) {}); }) ==
          ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(HttpsFixture, "a registry that is not there is unavailable") {
    server.start();
    CatalogueOptions away = options();
    server.server().stop();
    CHECK(code_of([&] { HttpsCatalogue(away).list(); }) == ErrorCode::unavailable);
}

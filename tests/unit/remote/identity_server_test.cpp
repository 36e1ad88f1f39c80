// What an OpenID provider may do to us over the network.
#include "libsvc/remote/identity_server.h"

#include <catch2/catch.hpp>

#include "libsvc/base/guarded.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/support/error_code.h"
#include "tests/support/test_certificates.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

namespace {

struct ProviderFixture {
    TestServer server;
    std::unique_ptr<IdentityServer> provider = open_identity_server({});

    ProviderFixture() { server.with_tcp = true; }
    void answer(const std::string& path, const std::string& body, int status = 200) {
        server.service.add(path, [body, status](Request& request) {
            Response response = text_response(body.empty() ? request.headers.get("Authorization") + "|" +
                                                                 request.headers.get("Content-Type") + "|" +
                                                                 request.body + "|" + request.target
                                                           : body);
            response.status = status;
            return response;
        });
    }
    std::string url(const std::string& path) { return server.tcp_target().describe() + path; }
    std::optional<ErrorCode> code(const std::string& path) {
        return code_of([&] { provider->get(url(path)); });
    }
};

}  // namespace

TEST_CASE_METHOD(ProviderFixture, "documents are read and forms are sent") {
    answer("/x", "text");
    answer("/form", "");
    server.start();
    CHECK(provider->get(url("/x")) == "text");
    CHECK(provider->post_form(url("/form?q=1"), "Basic abc", "a=b") ==
          "Basic abc|application/x-www-form-urlencoded|a=b|/form?q=1");
    CHECK(provider->post_form(url("/form"), "", "a=b").starts_with("|"));
}

TEST_CASE_METHOD(ProviderFixture, "what a provider refuses is an error that names it") {
    answer("/denied", R"({"error": "invalid_grant"})", 400);
    answer("/moved", "x", 302);
    answer("/broken", "x", 500);
    server.start();
    CHECK(code("/absent") == ErrorCode::not_found);
    CHECK(code("/broken") == ErrorCode::unavailable);
    CHECK_THAT(message_of([&] { provider->get(url("/moved")); }),
               Catch::Contains("redirects are not followed"));
    CHECK(message_of([&] { provider->post_form(url("/denied"), "", ""); }) ==
          "OpenID provider answers with status 400: 'invalid_grant'");
}

TEST_CASE_METHOD(ProviderFixture, "an answer that is too long is refused") {
    answer("/long", std::string((256U << 10) + 1, 'x'));
    answer("/whole", std::string(256U << 10, 'x'));
    server.start();
    CHECK(provider->get(url("/whole")).size() == 256U << 10);
    CHECK(code("/long") == ErrorCode::unavailable);
}

TEST_CASE_METHOD(ProviderFixture, "a provider without TLS elsewhere than here is not asked") {
    for (const char* url : {"http://login.example.com/x", "ftp://127.0.0.1/x", "file:///etc/passwd", ""})
        CHECK(code_of([&] { provider->get(url); }) == ErrorCode::invalid_argument);
    CHECK_THAT(message_of([&] { provider->get("http://127.0.0.1:1/x"); }),
               Catch::StartsWith("OpenID provider cannot be reached: "));
}

// A pause without a byte is allowed to be longer than the call as a whole.
TEST_CASE("a call ends at its limit") {
    TestServer server;
    server.with_tcp = true;
    Guarded<std::vector<Responder>> waiting;
    server.service.add("/x", [&waiting](Request&) {
        Response response;
        response.later = [&waiting](const Responder& respond) {
            waiting.with([&](auto& all) { all.push_back(respond); });
        };
        return response;
    });
    server.start();
    ClientRequest request;
    request.path = "/x";
    request.timeout = std::chrono::hours(1);
    request.limit = std::chrono::milliseconds(5);
    CHECK(code_of([&] { call_directly(server.tcp_target(), request); }) == ErrorCode::unavailable);
}

TEST_CASE("a provider is trusted by the authorities that are given") {
    const auto authority = make_certificate({.name = "ca", .authority = true});
    const auto other = make_certificate({.name = "other", .authority = true});
    const auto identity =
        make_certificate({.name = "login", .alternative_names = "IP:127.0.0.1", .issuer = &authority});
    TestServer server;
    server.with_tls = true;
    identity.write_to(server.directory(), "server");  // found there by start()
    server.service.add("/x", [](Request&) { return text_response("here"); });
    server.start();
    const std::string url = server.tls_target().describe() + "/x";
    CHECK(open_identity_server({.authorities = authority.pem})->get(url) == "here");
    CHECK(open_identity_server({.authorities = other.pem + authority.pem})->get(url) == "here");
    CHECK(code_of([&] { open_identity_server({})->get(url); }) == ErrorCode::unavailable);
    CHECK(code_of([&] { open_identity_server({.authorities = other.pem})->get(url); }) ==
          ErrorCode::unavailable);
    CHECK(code_of([&] {
              open_identity_server({.authorities = "-----BEGIN CERTIFICATE-----\nx"})->get(url);
          }) == ErrorCode::invalid_argument);
}

}  // namespace svc::test

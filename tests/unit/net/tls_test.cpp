#include "libsvc/net/tls/tls.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/net/client/client.h"
#include "libsvc/net/client/direct_call.h"
#include "libsvc/net/client/server_certificate.h"
#include "tests/support/error_code.h"
#include "tests/support/test_certificates.h"
#include "tests/support/tls_versions.h"
#include "tests/unit/net/test_server.h"

using namespace svc;

namespace {

struct Keys {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "tls-test-"};
    KeyPair make(const std::string& name) const {
        const KeyPair files{directory.path() / (name + ".crt"), directory.path() / (name + ".key")};
        ensure_key_pair(files, name, {"localhost"}, {"127.0.0.1", "::1"}, SystemClock());
        return files;
    }
};

unsigned mode_of(const std::filesystem::path& path) {
    struct stat info {};
    stat(path.c_str(), &info);
    return info.st_mode & 0777;
}

}  // namespace

TEST_CASE("ensure key pair makes a protected key once") {
    const Keys keys;
    const auto files = keys.make("server");
    CHECK(mode_of(files.key) == 0600);
    const auto certificate = parse_certificate(read_file(files.certificate));
    CHECK(certificate.common_name == "server");
    CHECK(certificate.fingerprint.size() == 64);
    CHECK(certificate.not_before < SystemClock().now());
    CHECK(certificate.not_after > SystemClock().now() + std::chrono::hours(24 * 3649));
    keys.make("server");
    CHECK(parse_certificate(read_file(files.certificate)).fingerprint == certificate.fingerprint);
}

TEST_CASE("ensure key pair replaces a certificate without key") {
    const Keys keys;
    const auto files = keys.make("server");
    const auto before = TlsContext(files).fingerprint();
    std::filesystem::remove(files.key);
    keys.make("server");
    CHECK(TlsContext(files).fingerprint() != before);
}

TEST_CASE("ensure key pair refuses a malformed address") {
    const Keys keys;
    const KeyPair files{keys.directory.path() / "a.crt", keys.directory.path() / "a.key"};
    CHECK_THROWS_AS(ensure_key_pair(files, "a", {}, {"300.1.1.1"}, SystemClock()), Error);
    CHECK_FALSE(std::filesystem::exists(files.key));
}

TEST_CASE("certificates go through pem and der unchanged") {
    const Keys keys;
    const auto from_pem = parse_certificate(read_file(keys.make("one").certificate));
    CHECK(parse_certificate(from_pem.der).fingerprint == from_pem.fingerprint);
    CHECK(parse_certificate(to_pem(from_pem)).der == from_pem.der);
    CHECK_THROWS_AS(parse_certificate("-----BEGIN CERTIFICATE-----\nnonsense"), Error);
    CHECK_THROWS_AS(parse_certificate(from_pem.der + "x"), Error);
    CHECK_THROWS_AS(parse_certificate(""), Error);
}

TEST_CASE("a server certificate is valid for each of its names and addresses") {
    const Keys keys;
    const KeyPair files{keys.directory.path() / "a.crt", keys.directory.path() / "a.key"};
    ensure_key_pair(files, "machine", {"machine", "localhost"}, {"127.0.0.1", "::1", "192.0.2.7"},
                    SystemClock());
    const std::string pem = read_file(files.certificate);
    for (const char* name : {"machine", "localhost", "127.0.0.1", "::1", "192.0.2.7"})
        CHECK(test::certificate_names(pem, name));
    CHECK_FALSE(test::certificate_names(pem, "elsewhere"));
    CHECK_FALSE(test::certificate_names(pem, "192.0.2.8"));
}

TEST_CASE("reload keeps the old key when the files are bad") {
    const Keys keys;
    const auto files = keys.make("server");
    TlsContext context(files);
    const auto before = context.fingerprint();
    write_file_atomically(files.key, "nonsense");
    CHECK_THROWS_AS(context.reload(), Error);
    CHECK(context.fingerprint() == before);
}

namespace {

struct NamedServer : test::TestServer {
    NamedServer() {
        with_tls = true;
        named = {"one.internal", "two.internal"};
        service.add("/who", [](Request& request) {
            Response response;
            response.body = request.peer->certificate ? request.peer->certificate->common_name : "nobody";
            return response;
        });
    }
};

std::string ask_who(const Target& target) {
    ClientRequest request;
    request.path = "/who";
    return HttpClient(target).call(request).body;
}

}  // namespace

TEST_CASE("a server is who it is asked for by name") {
    const auto version = GENERATE(TlsVersion::tls12, TlsVersion::tls13);
    NamedServer server;
    server.start();
    const Target target = server.tls_target();
    CHECK(test::presented(target, version, "one.internal") == "one.internal");
    CHECK(test::presented(target, version, "TWO.internal") == "two.internal");
    CHECK(test::presented(target, version, "three.internal") == "server");
    CHECK(test::presented(target, version, "") == "server");
}

TEST_CASE("a named identity takes no older version than the others") {
    NamedServer server;
    server.least = TlsVersion::tls13;
    server.start();
    CHECK(test::presented(server.tls_target(), TlsVersion::tls12, "one.internal").empty());
    CHECK(test::presented(server.tls_target(), TlsVersion::tls13, "one.internal") == "one.internal");
}

TEST_CASE("clients pin the identity that they ask for") {
    NamedServer server;
    server.start();
    Target target = server.tls_target("one.internal");
    CHECK(ask_who(target) == "nobody");
    CHECK(server_certificate(target).common_name == "one.internal");
    target.identity = server.make_identity("client");
    CHECK(ask_who(target) == "client");
    target.server_fingerprint = server.tls_target().server_fingerprint;
    CHECK(test::code_of([&] { ask_who(target); }) == ErrorCode::unavailable);
    target.server_name = "";
    CHECK(ask_who(target) == "client");
}

TEST_CASE("clients name in the request whom they ask for") {
    NamedServer server;
    server.service.add("/host",
                       [](Request& request) { return test::text_response(request.headers.get("Host")); });
    server.start();
    ClientRequest request;
    request.path = "/host";
    Target target = server.tls_target();
    const std::string port = ":" + std::to_string(target.port);
    CHECK(call_directly(target, request).body == target.host + port);
    target = server.tls_target("one.internal");
    CHECK(call_directly(target, request).body == "one.internal" + port);
}

TEST_CASE("a reload leaves named identities as they are") {
    const Keys keys;
    const auto files = keys.make("server"), own = keys.make("own");
    TlsContext context(files, TlsVersion::tls12, {{"Own.internal", own}});
    const auto before = context.fingerprint();
    const auto own_before = context.fingerprint("own.internal");
    for (const auto& pair : {files, own}) std::filesystem::remove(pair.key);
    keys.make("server");
    context.reload();
    CHECK(context.fingerprint() != before);
    CHECK(context.fingerprint("own.internal") == own_before);
    CHECK(test::code_of([&] { (void)context.fingerprint("other.internal"); }) == ErrorCode::not_found);
}

TEST_CASE("a bad identity is refused with the names of its files") {
    const Keys keys;
    const auto files = keys.make("server"), own = keys.make("own");
    const auto message = [&] {
        return test::message_of([&] { TlsContext(files, TlsVersion::tls12, {{"own", own}}); });
    };
    std::filesystem::copy_file(files.key, own.key, std::filesystem::copy_options::overwrite_existing);
    const std::string name = own.certificate.string();
    CHECK(message().starts_with(name + " with own.key: cannot load private key"));
    write_file_atomically(own.certificate, "nonsense");
    CHECK(message().starts_with(name + " with own.key: cannot load certificate"));
    std::filesystem::remove(own.certificate);
    CHECK(message().starts_with(name + " with own.key: cannot load certificate"));
}

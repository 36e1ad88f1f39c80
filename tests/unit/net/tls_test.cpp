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

TEST_CASE("ensure_key_pair_makes_a_protected_key_once") {
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

TEST_CASE("ensure_key_pair_replaces_a_certificate_without_key") {
    const Keys keys;
    const auto files = keys.make("server");
    const auto before = TlsContext(files).fingerprint();
    std::filesystem::remove(files.key);
    keys.make("server");
    CHECK(TlsContext(files).fingerprint() != before);
}

TEST_CASE("ensure_key_pair_refuses_a_malformed_address") {
    const Keys keys;
    const KeyPair files{keys.directory.path() / "a.crt", keys.directory.path() / "a.key"};
    CHECK_THROWS_AS(ensure_key_pair(files, "a", {}, {"300.1.1.1"}, SystemClock()), Error);
    CHECK_FALSE(std::filesystem::exists(files.key));
}

TEST_CASE("certificates_go_through_pem_and_der_unchanged") {
    const Keys keys;
    const auto from_pem = parse_certificate(read_file(keys.make("one").certificate));
    CHECK(parse_certificate(from_pem.der).fingerprint == from_pem.fingerprint);
    CHECK(parse_certificate(to_pem(from_pem)).der == from_pem.der);
    CHECK_THROWS_AS(parse_certificate("-----BEGIN CERTIFICATE-----\nnonsense"), Error);
    CHECK_THROWS_AS(parse_certificate(from_pem.der + "x"), Error);
    CHECK_THROWS_AS(parse_certificate(""), Error);
}

TEST_CASE("a_server_certificate_is_valid_for_each_of_its_names_and_addresses") {
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

TEST_CASE("reload_keeps_the_old_key_when_the_files_are_bad") {
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

TEST_CASE("a_server_is_who_it_is_asked_for_by_name") {
    const auto version = GENERATE(TlsVersion::tls12, TlsVersion::tls13);
    NamedServer server;
    server.start();
    const Target target = server.tls_target();
    CHECK(test::presented(target, version, "one.internal") == "one.internal");
    CHECK(test::presented(target, version, "TWO.internal") == "two.internal");
    CHECK(test::presented(target, version, "three.internal") == "server");
    CHECK(test::presented(target, version, "") == "server");
}

TEST_CASE("a_named_identity_takes_no_older_version_than_the_others") {
    NamedServer server;
    server.least = TlsVersion::tls13;
    server.start();
    CHECK(test::presented(server.tls_target(), TlsVersion::tls12, "one.internal").empty());
    CHECK(test::presented(server.tls_target(), TlsVersion::tls13, "one.internal") == "one.internal");
}

TEST_CASE("clients_pin_the_identity_that_they_ask_for") {
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

TEST_CASE("clients_name_in_the_request_whom_they_ask_for") {
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

TEST_CASE("a_reload_leaves_named_identities_as_they_are") {
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

TEST_CASE("a_bad_identity_is_refused_with_the_names_of_its_files") {
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

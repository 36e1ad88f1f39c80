#include "libsvc/net/tls.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/test_certificates.h"

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

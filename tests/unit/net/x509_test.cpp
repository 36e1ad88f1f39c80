#include "libsvc/net/tls/x509.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "tests/support/error_code.h"
#include "tests/support/test_certificates.h"

namespace svc::test {

TEST_CASE("a certificate is read from der pem and base64") {
    const auto made = make_certificate({"someone"});
    std::string broken_lines = base64_encode(made.der);
    for (std::size_t at = 64; at < broken_lines.size(); at += 65) broken_lines.insert(at, "\n");
    for (const std::string& text : {made.der, made.pem, base64_encode(made.der), broken_lines}) {
        const X509Certificate certificate = parse_x509(text);
        CHECK(certificate.der == made.der);
        CHECK(certificate.pem == made.pem);
        CHECK(certificate.fingerprint == sha256_hex(made.der));
        CHECK(certificate.common_name == "someone");
        CHECK(certificate.not_before == from_rfc3339("2020-01-01T00:00:00Z"));
        CHECK(certificate.not_after == from_rfc3339("2040-01-01T00:00:00Z"));
        CHECK_FALSE(certificate.is_authority);
    }
    CHECK(parse_x509(make_certificate({.name = "ca", .authority = true}).pem).is_authority);
}

TEST_CASE("the name of a certificate is UTF-8, whatever encoding it comes in") {
    const auto made = make_certificate({"someone"});
    const std::string utf8 = "\x0C\x07someone";  // type, length, text
    const auto name_with = [&](const std::string& encoded) {
        std::string der = made.der;
        for (std::size_t at = 0; (at = der.find(utf8, at)) != std::string::npos;)
            der.replace(at, utf8.size(), encoded);
        REQUIRE(der != made.der);
        return parse_x509(der).common_name;
    };
    CHECK(name_with("\x14\x07s\xFCmeone") == "s\xC3\xBCmeone");  // Latin 1
    CHECK(code_of([&] { name_with("\x0C\x07s\xFFmeone"); }) == ErrorCode::invalid_argument);
    CHECK(name_with("\x0C\x07s\n\x01\x7Fone") == "s???one");
}

TEST_CASE("what is no certificate is refused") {
    const auto made = make_certificate({"someone"});
    std::string bad_key = made.der;
    const std::string curve_oid = "\x2a\x86\x48\xce\x3d\x03\x01\x07";
    const auto at = bad_key.find(curve_oid);
    REQUIRE(at != std::string::npos);
    bad_key[at + curve_oid.size() - 1] = '\x7f';  // a curve that nobody knows
    for (const std::string& text :
         {std::string(), std::string("x"), std::string("0"),
          std::string("-----BEGIN CERTIFICATE-----\nnonsense"), made.der + "x", made.der.substr(0, 100),
          base64_encode("nothing"), std::string(1000, '\x30'), bad_key,
          std::string(std::size_t{2} << 20U, 'A')})
        CHECK(code_of([&] { parse_x509(text); }) == ErrorCode::invalid_argument);
    CHECK(message_of([&] { parse_x509("x"); }) == "certificate is malformed");
}

TEST_CASE("an authority has signed its child and nobody else") {
    const auto authority = make_certificate({.name = "ca", .authority = true});
    const auto namesake = make_certificate({.name = "ca", .authority = true});
    const auto child = make_certificate({.name = "child", .issuer = &authority});
    CHECK(is_signed_by(child.der, authority.der));
    CHECK_FALSE(is_signed_by(child.der, namesake.der));
    CHECK_FALSE(is_signed_by(authority.der, child.der));
    CHECK_FALSE(is_signed_by(child.der, child.der));
    CHECK_FALSE(is_signed_by("nonsense", authority.der));
    CHECK_FALSE(is_signed_by(child.der, ""));
}

TEST_CASE("who may not sign has signed nothing") {
    const auto no_authority = make_certificate({.name = "leaf"});
    CHECK_FALSE(
        is_signed_by(make_certificate({.name = "child", .issuer = &no_authority}).der, no_authority.der));
    const auto only_signs_data =
        make_certificate({.name = "ca", .authority = true, .key_usage = "digitalSignature"});
    CHECK_FALSE(is_signed_by(make_certificate({.name = "child", .issuer = &only_signs_data}).der,
                             only_signs_data.der));
}

TEST_CASE("a child for servers or with a weak signature does not count") {
    const auto authority = make_certificate({.name = "ca", .authority = true, .key_usage = "keyCertSign"});
    const auto child = [&](CertificatePlan plan) {
        plan.name = "child";
        plan.issuer = &authority;
        return is_signed_by(make_certificate(plan).der, authority.der);
    };
    CHECK(child({.extended_usage = "clientAuth"}));
    CHECK_FALSE(child({.extended_usage = "serverAuth"}));
    CHECK_FALSE(child({.sha1 = true}));
}

}  // namespace svc::test

#include "libsvc/model/cluster/certificate.h"

#include <catch2/catch.hpp>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

Certificate sample_certificate() {
    Certificate certificate;
    certificate.fingerprint = std::string(64, 'a');
    certificate.pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
    certificate.common_name = "alice";
    certificate.not_before = from_rfc3339("2024-01-02T03:04:05Z");
    certificate.not_after = from_rfc3339("2034-01-02T03:04:05Z");
    certificate.is_authority = true;
    certificate.added_at = from_rfc3339("2024-02-02T03:04:05Z");
    return certificate;
}

JoinToken token() {
    JoinToken token;
    token.id = "c5pvhr3fbn40000000a0";
    token.name = "bob";
    token.secret_hash = std::string(64, 'b');
    token.created_at = from_unix_seconds(100);
    token.expires_at = from_unix_seconds(200);
    return token;
}

TEST_CASE("the record of a certificate is its text and its fingerprint") {
    CHECK(to_json(sample_certificate()) == Json::object({{"certificate", sample_certificate().pem},
                                                         {"fingerprint", std::string(64, 'a')},
                                                         {"role", "admin"}}));
}

TEST_CASE("certificates and join tokens are stored whole, read back and checked") {
    test::check_record_codec<Certificate>({"",
                                           sample_certificate(),
                                           certificate_to_store,
                                           certificate_from_store,
                                           {"fingerprint", "pem", "not_before", "not_after", "added_at"},
                                           {}});
    test::check_record_codec<JoinToken>({"",
                                         token(),
                                         join_token_to_store,
                                         join_token_from_store,
                                         {"id", "secret_hash", "created_at", "expires_at"},
                                         {}});
}

TEST_CASE("a record without a role is that of an admin, and other roles are for newer programs") {
    Json stored = certificate_to_store(sample_certificate());
    CHECK(stored.at("schema") == Json(1));
    stored.erase("role");
    CHECK(certificate_from_store(stored).role == Role::admin);
    Certificate viewer = sample_certificate();
    viewer.role = Role::viewer;
    CHECK(certificate_to_store(viewer).at("schema") == Json(4));
    CHECK(certificate_from_store(certificate_to_store(viewer)).role == Role::viewer);
    JoinToken invitation = token();
    invitation.role = Role::operator_;
    CHECK(join_token_to_store(invitation).at("schema") == Json(4));
    CHECK(join_token_from_store(join_token_to_store(invitation)).role == Role::operator_);
}

TEST_CASE("roles are ordered, and others are refused") {
    CHECK(Role::viewer < Role::operator_);
    CHECK(Role::operator_ < Role::admin);
    for (const Role role : {Role::viewer, Role::operator_, Role::admin})
        CHECK(parse_role(to_text(role)) == role);
    CHECK_THROWS_WITH(parse_role("root"),
                      "argument role is invalid: one of viewer, operator, admin is expected");
}

TEST_CASE("the record of a join token keeps its secret to itself") {
    CHECK(to_json(token()).dump() ==
          R"({"id":"c5pvhr3fbn40000000a0","name":"bob","role":"admin","created_at":100,"expires_at":200})");
}

TEST_CASE("the request for trust takes both spellings") {
    const auto request = CertificateRequest::from_json(
        Json::parse(R"({"certificate":"AA==","trust-password":"pw","join-token":"t"})"));
    CHECK(request.certificate == "AA==");
    CHECK(request.trust_password == "pw");
    CHECK(request.join_token == "t");
    const auto other =
        CertificateRequest::from_json(Json::parse(R"({"trust_password":"pw","join_token":"t"})"));
    CHECK(other.certificate.empty());
    CHECK(other.trust_password == "pw");
    CHECK(other.join_token == "t");
    test::check_codec(CertificateRequest::from_json,
                      test::all_refused({"[]", R"({"certificate":1})", R"({"trust-password":1})",
                                         R"({"join_token":[]})", R"({"role":"root"})", R"({"role":1})"}));
}

}  // namespace
}  // namespace svc
